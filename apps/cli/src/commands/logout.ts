/** `lodge logout`: forgets the key of a context. */
import type { Command } from 'commander';
import { placeOf } from '../context/choice.ts';
import { contextNamed, readConfig, writeConfig } from '../context/config.ts';
import { forgetKey } from '../context/keys.ts';
import { examples } from '../examples.ts';
import { CommandError, exitCodes } from '../failure.ts';
import type { On } from '../run.ts';

export default function logout(command: Command, on: On): void {
  command.description(
    'Forget the key of a context on this machine. It stays valid until it is revoked in the account area.',
  );
  examples(
    command,
    ['lodge logout', 'forget the key of the current context'],
    ['lodge logout --context work', 'of another one'],
  ).action(
    on(async (run, options) => {
      const config = await readConfig(run.env);
      const { name } = placeOf(config, run.env, options);
      if (name === null)
        throw new CommandError(exitCodes.denied, 'Nobody is signed in.', '`lodge context list` shows the contexts.');
      const context = contextNamed(config, name);
      await forgetKey(run.env, name, context);
      await writeConfig(run.env, { ...config, contexts: { ...config.contexts, [name]: { ...context, key: 'none' } } });
      run.out.result({ context: name, signed_in: false }, () => `Signed out of ${name} (${context.url}).\n`);
      run.out.note('The key is still valid. Revoke it in the account area if nobody needs it.');
    }),
  );
}
