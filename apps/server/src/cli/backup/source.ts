/** A backup as a restore takes it, whatever form it has. */
import type { DatabaseFacts } from '@lodge/store';

export interface BackupSource {
  readonly name: string;
  /** ISO 8601: anything that was acknowledged before is in the backup. */
  readonly at: string;
  readonly agents: readonly SourceAgent[];
  readonly templates: readonly { readonly id: string; readonly folder: Owned }[];
  /** Settings that were set then, by variable. */
  readonly settings: Readonly<Record<string, string>>;
  readonly facts: DatabaseFacts;
  /** The room that it takes, a bound. */
  readonly neededBytes: number;
  /** Puts all files into `vms` and `templates` of a data folder, where nothing of their names is. */
  fill(dataDir: string): Promise<void>;
  /** After `fill`. */
  rows(table: string): AsyncIterable<string>;
  /** Removes what `fill` has laid aside. */
  close(): Promise<void>;
}

export interface SourceAgent {
  readonly agentId: string;
  readonly templateId: string;
  /** Its name is relative to the folder of VMs. */
  readonly record: { readonly name: string; readonly text: string };
}

export interface Owned {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}
