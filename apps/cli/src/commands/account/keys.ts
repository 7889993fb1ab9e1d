/** `lodge keys`: API keys of the account. */
import type { ApiKey, CreateApiKey } from '@lodge/sdk';
import type { Command } from 'commander';
import { examples } from '../../examples.ts';
import { limitOption, named, showList } from '../../gathered.ts';
import type { ListOptions } from '../../gathered.ts';
import type { On } from '../../run.ts';
import { cell } from '../../terminal/output.ts';
import type { Output } from '../../terminal/output.ts';
import { confirm } from '../../terminal/prompt.ts';
import { safeLine } from '../../terminal/safe.ts';
import { ago } from '../../terminal/words.ts';
import { given, several } from '../../values.ts';

interface CreateOptions {
  readonly scope: readonly string[];
  readonly expiresAt?: string;
}

export default function keys(command: Command, on: On): void {
  const list = command
    .command('list')
    .alias('ls')
    .addOption(limitOption())
    .description('List the API keys of the account. It needs a key with the scope keys:write.');
  examples(list, ['lodge keys list', 'show who can speak to the API']).action(
    on(async (run, { limit }: ListOptions) => {
      const lodge = await run.lodge();
      await showList<ApiKey>(
        run,
        lodge.keys.list(run.call),
        limit,
        [
          { title: 'id', value: ({ id }) => id, keep: true },
          { title: 'name', value: ({ name }) => name },
          { title: 'key', value: ({ last4 }) => `...${last4}` },
          { title: 'scopes', value: ({ scopes }) => scopes.join(' ') },
          { title: 'state', value: stateOf },
          { title: 'last used', value: ({ last_used_at }) => ago(last_used_at), align: 'right' },
        ],
        'The account has no keys.',
      );
    }),
  );
  const current = command.command('current').description('Show the key that the command line uses here.');
  examples(current, ['lodge keys current', 'show its scopes and when it ends']).action(
    on(async (run) => {
      const lodge = await run.lodge();
      const key = await lodge.keys.current(run.call);
      run.out.result(key, () => keyFields(run.out, key));
    }),
  );
  defineWrites(command, on);
}

function defineWrites(command: Command, on: On): void {
  const create = command
    .command('create')
    .argument('<name>', 'what the key is for')
    .requiredOption('--scope <scope>', 'what it may do; several times for several', several)
    .option('--expires-at <time>', 'when it ends, such as 2027-01-31T00:00:00Z')
    .description('Make an API key, with no more rights than the one in use. It is shown once.');
  examples(create, ['lodge keys create website --scope agents:chat', 'make a key that may only talk to agents']).action(
    on(async (run, { scope, expiresAt }: CreateOptions, name: string) => {
      const lodge = await run.lodge();
      const body = { name, scopes: scope, ...given({ expires_at: expiresAt }) } as CreateApiKey;
      const made = await lodge.keys.create(body, run.call);
      run.out.result(made, () => `${safeLine(made.key)}\n`);
      if (!run.out.isJson) run.out.note(`This is the key ${safeLine(made.name)}. It is not shown again.`);
    }),
  );
  const revoke = command
    .command('revoke')
    .argument('<key>', 'id or name of the key')
    .description('Revoke a key. It opens nothing from then on.');
  examples(revoke, ['lodge keys revoke website', 'revoke it, after a question']).action(
    on(async (run, _options: object, meant: string) => {
      const lodge = await run.lodge();
      const key = await named(lodge.keys.list(run.call), meant, ({ name }) => name, 'key');
      if (!run.isYes) await confirm(run, `Revoke the key ${safeLine(key.name)} (...${safeLine(key.last4)})?`);
      const revoked = await lodge.keys.revoke(key.id, run.call);
      run.out.result(revoked, () => `Revoked ${safeLine(key.name)}.\n`);
    }),
  );
}

function stateOf({ revoked_at: revoked, expires_at: expires }: ApiKey): string {
  if (revoked !== null) return 'revoked';
  if (expires === null) return 'live';
  return Date.parse(expires) <= Date.now() ? 'expired' : `ends ${ago(expires)}`;
}

const keyFields = (out: Output, key: ApiKey): string =>
  out.fields([
    ['id', cell(key.id)],
    ['name', cell(key.name)],
    ['key', cell(`...${key.last4}`)],
    ['scopes', cell(key.scopes.join(' '))],
    ['state', cell(stateOf(key))],
    ['created', cell(key.created_at)],
    ['last used', cell(key.last_used_at)],
  ]);
