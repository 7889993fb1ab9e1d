/** When and where the last backup was made, for `npm run doctor` and scheduled backups. The file is in the data folder. */
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '@lodge/domain';
import type { Config } from '../config/config.ts';

export interface LastBackup {
  /** ISO 8601. */
  readonly at: string;
  /** The place, as it was named. */
  readonly folder: string;
  readonly name: string;
}

const file = ({ dataDir }: Config): string => join(dataDir, 'last-backup.json');

/** The note has no secret: the control plane, which has no privileges, tells the owner its age. */
export async function noteLastBackup(config: Config, note: LastBackup): Promise<void> {
  await writeFile(file(config), `${JSON.stringify(note)}\n`, { mode: 0o644 });
  // An earlier release wrote it for root alone.
  await chmod(file(config), 0o644);
}

/** Null if none was made yet, or the note was cut off. */
export async function readLastBackup(config: Config): Promise<LastBackup | null> {
  const text = (await ifThere(readFile(file(config), 'utf8'))) ?? '{}';
  try {
    const { at, folder, name } = JSON.parse(text) as Partial<LastBackup>;
    return at !== undefined && folder !== undefined && name !== undefined ? { at, folder, name } : null;
  } catch {
    return null;
  }
}
