/** What a backup has, as its sealed list says it. Nobody without the master key can write one. */
import { BackupError, chunkNames, fits } from '@lodge/backup';
import type { ChunkList, Repository, StoredFile } from '@lodge/backup';
import type { DatabaseFacts } from '@lodge/store';
import { hasForm } from './list-form.ts';

export interface BackupList {
  readonly version: 1;
  /** ISO 8601: before it anything that was acknowledged is in the backup. */
  readonly at: string;
  readonly release: string;
  readonly instance: string;
  readonly database: { readonly facts: DatabaseFacts; readonly tables: Readonly<Record<string, ChunkList>> };
  readonly agents: readonly BackedUpAgent[];
  readonly templates: readonly BackedUpTemplate[];
  /** Settings that were set, by variable, without the master key and the database's address. */
  readonly settings: Readonly<Record<string, string>>;
}

export interface BackedUpAgent {
  readonly agentId: string;
  readonly templateId: string;
  /** Its machine ran: it boots. */
  readonly ran: boolean;
  /** Relative to the folder of VMs. */
  readonly files: Readonly<Record<string, StoredFile>>;
  readonly record: { readonly name: string; readonly text: string };
}

export interface BackedUpTemplate {
  readonly id: string;
  readonly folder: Pick<StoredFile, 'mode' | 'uid' | 'gid'>;
  readonly files: Readonly<Record<string, StoredFile>>;
}

export function* chunksOf(list: BackupList): Iterable<string> {
  for (const chunks of Object.values(list.database.tables)) yield* chunkNames(chunks);
  for (const { stored } of filesOf(list)) yield* chunkNames(stored.chunks);
}

/** By name, relative to the data folder. */
export function* filesOf(list: BackupList): Iterable<{ readonly name: string; readonly stored: StoredFile }> {
  for (const { files } of list.agents) {
    for (const [name, stored] of Object.entries(files)) yield { name: `vms/${name}`, stored };
  }
  for (const { id, files } of list.templates) {
    for (const [name, stored] of Object.entries(files)) yield { name: `templates/${id}/${name}`, stored };
  }
}

/** Rejects with `BackupError` when it is damaged, or of a form that this release does not know. */
export async function readList(repository: Repository, name: string): Promise<BackupList> {
  const found = await repository.list(name);
  if (!hasForm(found)) {
    throw new BackupError(
      `The backup ${name} is of a form that this release does not know. Restore it with a newer one.`,
    );
  }
  const list = found as BackupList;
  for (const { name: file, stored } of filesOf(list)) {
    if (!fits(stored))
      throw new BackupError(`The backup ${name} is damaged: ${file} has another size than its pieces.`);
  }
  return list;
}
