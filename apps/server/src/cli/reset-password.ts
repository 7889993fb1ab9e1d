import { cryptography } from '@lodge/access';
import { parseArgs } from 'node:util';
import { createResetLink } from '@lodge/engine';
import { linkPath } from '@lodge/domain';
import { readConfig } from '../config/config.ts';
import { publicUrl } from '../config/public-url.ts';
import { CommandError, commandLog, say } from './command.ts';
import type { Command } from './command.ts';
import { orCommandError } from './owner-link.ts';
import { withStore } from './with-store.ts';

/** `reset-password EMAIL [--remove-second-factor]` */
export const resetPassword: Command = async (args, env) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { 'remove-second-factor': { type: 'boolean', default: false } },
  });
  const [email, ...more] = positionals;
  if (email === undefined || more.length > 0) {
    throw new CommandError('Say whose password: reset-password EMAIL [--remove-second-factor]');
  }
  const config = readConfig(env);
  const removesTotp = values['remove-second-factor'];
  const token = await withStore(config, commandLog(env), (store) =>
    orCommandError(createResetLink(store.database, cryptography.tokens, email, { removesTotp })),
  );
  say(
    `Whoever opens this link within an hour sets a new password for ${email}, and every session of the account ends.`,
  );
  if (removesTotp) say('It takes the second factor off too.');
  say(`  ${publicUrl(config).origin}${linkPath('reset', token)}`);
  return 0;
};
