import { cryptography } from '@lodge/access';
import { Refusal, linkPath } from '@lodge/domain';
import { parseArgs } from 'node:util';
import { createOwnerLink } from '@lodge/engine';
import { readConfig } from '../config/config.ts';
import { publicUrl } from '../config/public-url.ts';
import { CommandError, commandLog, say } from './command.ts';
import type { Command } from './command.ts';
import { withStore } from './with-store.ts';

export const ownerLink: Command = async (args, env) => {
  parseArgs({ args, options: {} });
  const config = readConfig(env);
  const token = await withStore(config, commandLog(env), (store) =>
    orCommandError(createOwnerLink(store.database, cryptography.tokens)),
  );
  say('Open this link within 24 hours to make the first account yours. Earlier links no longer work.');
  say(`  ${publicUrl(config).origin}${linkPath('owner', token)}`);
  return 0;
};

/** Passes a refusal on as it is. */
export async function orCommandError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof Refusal ? new CommandError(error.message, { cause: error }) : error;
  }
}
