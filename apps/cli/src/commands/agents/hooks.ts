/** `lodge hooks`: addresses at which third parties' requests become messages to an agent. */
import type { CreateHook, Hook } from '@lodge/sdk';
import type { Command } from 'commander';
import { Option } from 'commander';
import { agentIdOf } from '../../agent-of.ts';
import { agentArgument } from '../../arguments.ts';
import { deliverOf, withDelivery } from '../../delivery.ts';
import type { Delivery } from '../../delivery.ts';
import { examples } from '../../examples.ts';
import { usageError } from '../../failure.ts';
import { limitOption, named, pageOf, showList } from '../../gathered.ts';
import type { ListOptions } from '../../gathered.ts';
import type { On, Run } from '../../run.ts';
import { readSecret } from '../../secrets.ts';
import { cell } from '../../terminal/output.ts';
import { confirm } from '../../terminal/prompt.ts';
import { safeLine } from '../../terminal/safe.ts';
import { ago } from '../../terminal/words.ts';
import { given, readText } from '../../values.ts';

interface HookOptions extends Delivery {
  readonly template?: string;
  readonly templateFile?: string;
  readonly conversation?: string;
  readonly signature?: 'github' | 'stripe' | 'standard' | 'hmac';
  readonly secret?: string;
  readonly header?: string;
  readonly encoding?: 'hex' | 'base64';
  readonly prefix?: string;
}

const hookArgument = ['<hook>', 'id or name of the hook'] as const;

export default function hooks(command: Command, on: On): void {
  defineReads(command, on);
  defineWrites(command, on);
}

function defineReads(command: Command, on: On): void {
  const list = command
    .command('list')
    .alias('ls')
    .argument(...agentArgument)
    .addOption(limitOption())
    .description('List the hooks of an agent.');
  examples(list, ['lodge hooks list ada', 'show who may send to ada']).action(
    on(async (run, { limit }: ListOptions, agent: string) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      await showList<Hook>(
        run,
        lodge.hooks.list(id, run.call),
        limit,
        [
          { title: 'id', value: (each) => each.id, keep: true },
          { title: 'name', value: ({ name }) => name },
          { title: 'address', value: ({ last4 }) => `...${last4}` },
          { title: 'signature', value: ({ signature }) => signature?.type ?? 'none' },
          { title: 'answers go to', value: ({ deliver }) => deliver.channel ?? deliver.to },
          { title: 'age', value: ({ created_at }) => ago(created_at), align: 'right' },
        ],
        'The agent has no hooks.',
      );
    }),
  );
  const messages = command
    .command('messages')
    .argument(...agentArgument)
    .argument(...hookArgument)
    .addOption(limitOption())
    .description('List the requests that came to a hook, newest first.');
  examples(messages, ['lodge hooks messages ada github', 'show what became of each request']).action(
    on(async (run, { limit }: ListOptions, agent: string, meant: string) => {
      const { id, found } = await hookOf(run, agent, meant);
      const lodge = await run.lodge();
      await showList(
        run,
        lodge.hooks.messages(id, found.id, { limit: pageOf(limit) }, run.call),
        limit,
        [
          { title: 'id', value: (each) => each.id, keep: true },
          { title: 'state', value: ({ state }) => state },
          { title: 'received', value: ({ received_at }) => ago(received_at), align: 'right' },
          { title: 'attempts', value: ({ attempts }) => attempts, align: 'right' },
          { title: 'reason', value: ({ reason }) => reason },
        ],
        'Nothing has come yet.',
      );
    }),
  );
}

function defineWrites(command: Command, on: On): void {
  const create = withDelivery(
    command
      .command('create')
      .argument(...agentArgument)
      .argument('<name>', 'name of the hook')
      .description('Make a hook. Its address is shown once.')
      .option('--template <text>', 'what the agent is told, with fields such as {{issue.title}}')
      .option('--template-file <path>', 'the same from a file, - for stdin')
      .option('--conversation <name>', 'the conversation that the messages go on with')
      .addOption(
        new Option('--signature <type>', 'how the sender signs').choices(['github', 'stripe', 'standard', 'hmac']),
      )
      .option('--secret <source>', "the signature's secret: asked for, or env:NAME, file:PATH, - for stdin")
      .option('--header <name>', 'with hmac: the header of the signature')
      .addOption(new Option('--encoding <form>', 'with hmac: its form').choices(['hex', 'base64']))
      .option('--prefix <text>', 'with hmac: what stands before it, such as sha256='),
  );
  examples(
    create,
    [
      'lodge hooks create ada issues --signature github --secret env:HOOK_SECRET',
      'take events of GitHub, which signs them',
    ],
    [
      'lodge hooks create ada alerts --template "Alert: {{title}}" --deliver slack:C012AB3CD',
      'tell the agent one field, and say its answer in Slack',
    ],
  ).action(
    on(async (run, options: HookOptions, agent: string, name: string) => {
      const body = await bodyOf(run, options, name);
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const made = await lodge.hooks.create(id, body, run.call);
      run.out.result(made, () =>
        run.out.fields([
          ['id', cell(made.id)],
          ['name', cell(made.name)],
          ['address', cell(made.url)],
        ]),
      );
      if (!run.out.isJson) run.out.note('Whoever has the address can write to the agent. It is not shown again.');
    }),
  );
  const remove = command
    .command('delete')
    .alias('rm')
    .argument(...agentArgument)
    .argument(...hookArgument)
    .description('Delete a hook. Requests to its address are refused from then on.');
  examples(remove, ['lodge hooks delete ada github', 'delete it, after a question']).action(
    on(async (run, _options: object, agent: string, meant: string) => {
      const { id, found } = await hookOf(run, agent, meant);
      if (!run.isYes) await confirm(run, `Delete the hook ${safeLine(found.name)}?`);
      const lodge = await run.lodge();
      const deleted = await lodge.hooks.delete(id, found.id, run.call);
      run.out.result(deleted, () => `Deleted ${safeLine(found.name)}.\n`);
    }),
  );
}

async function hookOf(run: Run, agent: string, meant: string): Promise<{ id: string; found: Hook }> {
  const id = await agentIdOf(run, agent);
  const lodge = await run.lodge();
  return { id, found: await named(lodge.hooks.list(id, run.call), meant, ({ name }) => name, 'hook') };
}

async function bodyOf(run: Run, options: HookOptions, name: string): Promise<CreateHook> {
  const { template, templateFile, conversation, signature: type, secret, header, encoding, prefix } = options;
  if (template !== undefined && templateFile !== undefined)
    throw usageError('--template and --template-file cannot both be given.');
  if (type === undefined && [secret, header, encoding, prefix].some((each) => each !== undefined))
    throw usageError('--secret, --header, --encoding and --prefix go with --signature.');
  const signature =
    type === undefined
      ? undefined
      : {
          type,
          secret: await readSecret(run, secret, 'Secret of the signature:', '--secret '),
          ...given({ header, encoding, prefix }),
        };
  return {
    name,
    ...given({
      conversation,
      signature,
      template: templateFile === undefined ? template : await readText(run, templateFile),
      deliver: deliverOf(options),
    }),
  };
}
