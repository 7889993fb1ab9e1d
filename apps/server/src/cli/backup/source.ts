/** A backup of any form, for a restore. */
import type { DatabaseFacts } from '@lodge/store';

export interface BackupSource {
  readonly name: string;
  /** ISO 8601: every change that was acknowledged before is in the backup. */
  readonly at: string;
  readonly agents: readonly SourceAgent[];
  readonly templates: readonly { readonly id: string; readonly folder: Owned }[];
  /** Explicit settings of that time, by variable. */
  readonly settings: Readonly<Record<string, string>>;
  readonly facts: DatabaseFacts;
  /** An upper bound on the room that it takes. */
  readonly neededBytes: number;
  /** Puts all files into `vms` and `templates` of a data folder that has none of their names. */
  fill(dataDir: string): Promise<void>;
  /** The rows of a table; call it after `fill`. */
  rows(table: string): AsyncIterable<string>;
  /** Removes the temporary files of `fill`. */
  close(): Promise<void>;
}

export interface SourceAgent {
  readonly agentId: string;
  readonly templateId: string;
  /** The record; its name is relative to the folder of VMs. */
  readonly record: { readonly name: string; readonly text: string };
}

export interface Owned {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}
