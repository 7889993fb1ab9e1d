/** `lodge channels approvals`, `approve` and `deny`: people who ask to talk to an agent. */
import type { Approval } from '@lodge/sdk';
import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import { agentIdOf } from '../agent-of.ts';
import { agentArgument } from '../arguments.ts';
import { examples } from '../examples.ts';
import { limitOption, showList } from '../gathered.ts';
import type { ListOptions } from '../gathered.ts';
import type { On, Run } from '../run.ts';
import { safeLine } from '../terminal/safe.ts';
import { ago } from '../terminal/words.ts';
import { given } from '../values.ts';
import { channelNames } from '../words.ts';
import type { Name } from './settings.ts';

interface ApprovalOptions extends ListOptions {
  readonly state?: Approval['state'];
}

const channelArgument = (): Argument => new Argument('<channel>', 'the platform').choices(channelNames);

export function defineApprovals(command: Command, on: On): void {
  const list = command
    .command('approvals')
    .argument(...agentArgument)
    .addArgument(channelArgument())
    .addOption(new Option('--state <state>', 'only those').choices(['pending', 'approved', 'denied']))
    .addOption(limitOption())
    .description('List people who asked to talk to an agent.');
  examples(list, ['lodge channels approvals ada telegram --state pending', 'show who waits']).action(
    on(async (run, { state, limit }: ApprovalOptions, agent: string, channel: Name) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      await showList<Approval>(
        run,
        lodge.channels.approvals(id, channel, given({ state }), run.call),
        limit,
        [
          { title: 'code', value: ({ code }) => code, keep: true },
          { title: 'state', value: (each) => each.state },
          { title: 'name', value: ({ sender }) => sender.name },
          { title: 'sender', value: ({ sender }) => sender.id },
          { title: 'asked', value: ({ asked_at }) => ago(asked_at), align: 'right' },
        ],
        'Nobody has asked.',
      );
    }),
  );
  for (const [verb, action, done] of [
    ['approve', 'approve', 'may talk to the agent'],
    ['deny', 'deny', 'is not answered'],
  ] as const) {
    const decide = command
      .command(verb)
      .argument(...agentArgument)
      .addArgument(channelArgument())
      .argument('<code>', 'the code that the person was given')
      .description(verb === 'approve' ? 'Let a person talk to an agent.' : 'Do not let a person talk to an agent.');
    examples(decide, [`lodge channels ${verb} ada telegram K7Q2M9`, `${verb} whoever has this code`]).action(
      on((run: Run, _options: object, agent: string, channel: Name, code: string) =>
        decideOn(run, agent, channel, { code, action }, done),
      ),
    );
  }
}

async function decideOn(
  run: Run,
  agent: string,
  channel: Name,
  body: { readonly code: string; readonly action: 'approve' | 'deny' },
  done: string,
): Promise<void> {
  const id = await agentIdOf(run, agent);
  const lodge = await run.lodge();
  const decided = await lodge.channels.decide(id, channel, body, run.call);
  run.out.result(decided, () => `${safeLine(decided.sender.name)} (${safeLine(decided.sender.id)}) ${done}.\n`);
}
