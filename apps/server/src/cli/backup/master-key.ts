/** The master key of a backup, which is never in it. */
import { open, stat } from 'node:fs/promises';
import { masterKeyId, MasterKeyError, readMasterKey } from '@lodge/access';
import { exists } from '../../host/files.ts';
import type { Config } from '../../config/config.ts';
import { masterKeySource } from '../../config/master-key-source.ts';
import { CommandError } from '../command.ts';

export interface MasterKey {
  readonly key: Buffer;
  readonly id: string;
  /** Says in words what must be kept apart from backups. */
  readonly where: string;
}

/** The key in this Lodge's settings, or that of `file`. Makes none: rejects with `CommandError` if there is none. */
export async function existingMasterKey(config: Config, file: string | undefined): Promise<MasterKey> {
  const source = file === undefined ? masterKeySource(config) : { kind: 'file' as const, file };
  if (source.kind === 'file' && !(await exists(source.file))) {
    throw new CommandError(
      `There is no master key in ${source.file}. Without the key that belongs to it a backup cannot be read; name its file with --key.`,
    );
  }
  try {
    const key = await readMasterKey(source);
    const where =
      source.kind === 'file' ? source.file : source.kind === 'text' ? 'LODGE_MASTER_KEY' : 'LODGE_MASTER_KEY_COMMAND';
    return { key, id: masterKeyId(key), where };
  } catch (error) {
    throw error instanceof MasterKeyError ? new CommandError(error.message, { cause: error }) : error;
  }
}

/**
 * Rejects with `CommandError` when this Lodge's settings have another key than `id`: it could not read the restored data.
 */
export async function assertSameKey(config: Config, id: string): Promise<void> {
  const source = masterKeySource(config);
  if (source.kind === 'file' && !(await exists(source.file))) return;
  const own = await existingMasterKey(config, undefined);
  if (own.id !== id) {
    throw new CommandError(
      `The backup belongs to the master key ${id}, and ${own.where} has ${own.id}. Set it to use that key.`,
    );
  }
}

/** Writes a copy, mode 0600. An existing file must be that key already. */
export async function writeMasterKey(file: string, { key, id }: Pick<MasterKey, 'key' | 'id'>): Promise<void> {
  const handle = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return null;
    throw new CommandError(`The master key could not be written to ${file}: ${error.message}`, { cause: error });
  });
  if (handle === null) {
    const same =
      (await stat(file)).size === key.length && masterKeyId(await readMasterKey({ kind: 'file', file })) === id;
    if (!same) throw new CommandError(`${file} is there already and is not the master key. It was left as it is.`);
    return;
  }
  try {
    await handle.writeFile(key);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
