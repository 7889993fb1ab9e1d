/** `lodge logout`: forgets the key of a context. */
import type { Command } from 'commander';
import { placeOf } from '../../context/choice.ts';
import { contextNamed, readConfig, writeConfig } from '../../context/config.ts';
import type { Context } from '../../context/config.ts';
import { forgetKey, readKey } from '../../context/keys.ts';
import { examples } from '../../examples.ts';
import { CommandError, exitCodes } from '../../failure.ts';
import type { On, Run, SharedOptions } from '../../run.ts';

/** A server that is gone keeps nobody from signing out. */
const timeoutMs = 10_000;

export default function logout(command: Command, on: On): void {
  command
    .option('--revoke', 'revoke the key in any case')
    .description(
      'Forget the key of a context on this machine, and revoke it if `lodge login` made it for this machine.',
    );
  examples(
    command,
    ['lodge logout', 'sign out of the current context'],
    ['lodge logout --context work --revoke', 'revoke a key that was given, too'],
  ).action(
    on(async (run, options: SharedOptions & { readonly revoke?: true }) => {
      const config = await readConfig(run.env);
      const { name } = placeOf(config, run.env, options);
      if (name === null)
        throw new CommandError(exitCodes.denied, 'Nobody is signed in.', '`lodge context list` shows the contexts.');
      const context = contextNamed(config, name);
      const wasRevoked = (context.isOwn || options.revoke === true) && (await revoke(run, name, context));
      await forgetKey(run.env, name, context);
      await writeConfig(run.env, {
        ...config,
        contexts: { ...config.contexts, [name]: { ...context, key: 'none', isOwn: false } },
      });
      const state = { context: name, signed_in: false, revoked: wasRevoked };
      const end = wasRevoked ? ' The key was revoked.' : '';
      run.out.result(state, () => `Signed out of ${name} (${context.url}).${end}\n`);
      if (wasRevoked || run.out.isJson) return;
      run.out.note('The key was not revoked: `--revoke` does it, or the account area.');
    }),
  );
}

/** Ends the key at the server. Returns whether that worked. */
async function revoke(run: Run, name: string, context: Context): Promise<boolean> {
  try {
    const key = await readKey(run.env, name, context);
    if (key === undefined) return false;
    const lodge = await run.lodgeAt(context.url, key);
    await lodge.request('DELETE', '/v1/account/keys/current', { ...run.call, maxRetries: 0, timeoutMs });
    return true;
  } catch (error) {
    if (run.signal.aborted) throw error;
    return false;
  }
}
