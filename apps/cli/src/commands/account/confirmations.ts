/** `lodge confirmations`: calls of agents that wait for a yes. */
import type { Confirmation, DecideConfirmation } from '@lodge/sdk';
import type { Command } from 'commander';
import { Option } from 'commander';
import { agentOf } from '../../agent-of.ts';
import { examples } from '../../examples.ts';
import { limitOption, showList } from '../../gathered.ts';
import type { ListOptions } from '../../gathered.ts';
import type { On, Run } from '../../run.ts';
import { cell } from '../../terminal/output.ts';
import { safeLine } from '../../terminal/safe.ts';
import { ago } from '../../terminal/words.ts';
import { given } from '../../values.ts';

const statuses = ['pending', 'allowed', 'sending', 'done', 'denied', 'expired', 'failed', 'unknown'] as const;
const memories = ['none', 'conversation', 'rule'] as const;
const argument = ['<confirmation>', "the confirmation's id"] as const;

interface Filter extends ListOptions {
  readonly status?: (typeof statuses)[number];
  readonly agent?: string;
}

interface Deciding {
  readonly reason?: string;
  readonly answer?: string;
  readonly remember?: (typeof memories)[number];
}

export default function confirmations(command: Command, on: On): void {
  defineReads(command, on);
  defineDecisions(command, on);
}

function defineReads(command: Command, on: On): void {
  const list = command
    .command('list')
    .alias('ls')
    .addOption(new Option('--status <status>', 'only those in this status').choices(statuses))
    .option('--agent <agent>', 'only those of this agent')
    .addOption(limitOption())
    .description('List confirmations, newest first.');
  examples(list, ['lodge confirmations list --status pending', 'show what waits for you']).action(
    on(async (run, { limit, status, agent }: Filter) => {
      const lodge = await run.lodge();
      const agentId = agent === undefined ? undefined : (await agentOf(run, agent)).id;
      const query = given({ status, agent_id: agentId });
      await showList<Confirmation>(
        run,
        lodge.confirmations.list(query, run.call),
        limit,
        [
          { title: 'id', value: ({ id }) => id, keep: true },
          { title: 'status', value: (each) => each.status },
          { title: 'agent', value: ({ agent_id }) => agent_id },
          { title: 'action', value: ({ action }) => action },
          { title: 'asked', value: ({ requested_at }) => ago(requested_at) },
        ],
        'There are no confirmations.',
      );
    }),
  );
  const show = command
    .command('show')
    .argument(...argument)
    .description('Show a confirmation with the words of the agent.');
  examples(show, ['lodge confirmations show q3x8n2v7k1ab', 'show what is asked']).action(
    on(async (run, _options: object, id: string) => {
      const lodge = await run.lodge();
      const found = await lodge.confirmations.get(id, run.call);
      run.out.result(found, () => fieldsOf(run, found));
    }),
  );
}

function defineDecisions(command: Command, on: On): void {
  const allow = command
    .command('allow')
    .argument(...argument)
    .option('--answer <text>', 'the answer to a question')
    .addOption(new Option('--remember <how>', 'for which calls it holds').choices(memories))
    .description('Say yes: the call is made once, as it was shown.');
  examples(allow, ['lodge confirmations allow q3x8n2v7k1ab', 'say yes']).action(
    on((run, { answer, remember }: Deciding, id: string) =>
      decide(run, id, { decision: 'allow', ...given({ answer, remember }) }),
    ),
  );
  const deny = command
    .command('deny')
    .argument(...argument)
    .option('--reason <text>', 'for the agent')
    .addOption(new Option('--remember <how>', 'for which calls it holds').choices(memories))
    .description('Say no: the call is not made.');
  examples(deny, ['lodge confirmations deny q3x8n2v7k1ab --reason "Ask Ann first"', 'say no']).action(
    on((run, { reason, remember }: Deciding, id: string) =>
      decide(run, id, { decision: 'deny', ...given({ reason, remember }) }),
    ),
  );
}

async function decide(run: Run, id: string, body: DecideConfirmation): Promise<void> {
  const lodge = await run.lodge();
  const decided = await lodge.confirmations.decide(id, body, run.call);
  run.out.result(decided, () => fieldsOf(run, decided));
}

const fieldsOf = (run: Run, each: Confirmation): string =>
  run.out.fields([
    ['id', cell(each.id)],
    ['status', cell(each.status)],
    ['agent', cell(each.agent_id)],
    ['action', cell(each.action)],
    ['the agent says', each.quoted === null ? null : safeLine(each.quoted)],
    ['cut', each.cut ? 'yes' : null],
    ['options', cell(each.options.join(', ') || null)],
    ['digest', cell(each.digest)],
    ['reason', cell(each.reason)],
    ['answer', cell(each.answer)],
    ['asked', cell(each.requested_at)],
    ['expires', cell(each.expires_at)],
  ]);
