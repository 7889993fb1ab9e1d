import { link, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { loadMasterKey, masterKeyId, MasterKeyError, readMasterKey, rotateMasterKey } from '@lodge/access';
import { readConfig } from '../config/config.ts';
import { masterKeySource } from '../config/master-key-source.ts';
import { syncFolder } from '../host/files.ts';
import { CommandError, commandLog, say } from './command.ts';
import type { Command } from './command.ts';
import { withStore } from './with-store.ts';

/**
 * `rotate-master-key [--new-key-command COMMAND]`. If the key is a file, the new one is made beside it as `<file>.new` and
 * replaces it when every secret is sealed anew; after a kill the same command goes on. If it comes from the environment or a
 * command, `--new-key-command` writes the new one (base64), and the operator puts it in place.
 */
export const rotateMasterKeyCommand: Command = async (args, env) => {
  const { values } = parseArgs({ args, options: { 'new-key-command': { type: 'string' } } });
  const config = readConfig(env);
  const source = masterKeySource(config);
  const command = values['new-key-command'];
  if ((source.kind === 'file') === (command !== undefined)) {
    throw new CommandError(
      command === undefined
        ? 'The master key is not in a file of ours: say what writes the new one, in base64, with --new-key-command.'
        : 'The master key is in a file, and the new one is made beside it: leave --new-key-command out.',
    );
  }
  const work = async (): Promise<void> => {
    const oldMasterKey = await readMasterKey(source);
    const newMasterKey = await (command === undefined && source.kind === 'file'
      ? loadMasterKey(`${source.file}.new`)
      : readMasterKey({ kind: 'command', command: command! }));
    const onProgress = (moved: number): void => say(`  ${moved} secrets sealed anew`);
    await withStore(
      config,
      commandLog(env),
      (store) => rotateMasterKey({ store: store.secrets, oldMasterKey, newMasterKey, onProgress }),
      { alone: true },
    );
    if (source.kind === 'file') await putInPlace(source.file, masterKeyId(oldMasterKey));
    else say('Done. Give Lodge the new key before it starts again.');
  };
  await work().catch((error: unknown) => {
    throw error instanceof MasterKeyError ? new CommandError(error.message, { cause: error }) : error;
  });
  return 0;
};

/** The old key gets another name before its own is replaced, so that there is a key at every moment. */
async function putInPlace(file: string, oldId: string): Promise<void> {
  const kept = `${file}.${oldId}.old`;
  await link(file, kept).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rename(`${file}.new`, file);
  await syncFolder(dirname(file));
  say(`Done. The new key is ${file}.`);
  say(`The old one is kept as ${kept}: only backups from before need it. Delete it when there are none.`);
}
