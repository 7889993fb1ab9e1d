/** `lodge agents start`, `stop` and the other changes of a machine, `delete` and `check-keys`. */
import type { Agent } from '@lodge/sdk';
import type { Command } from 'commander';
import { agentOf } from '../agent-of.ts';
import { agentArgument } from '../arguments.ts';
import { examples } from '../examples.ts';
import { CommandError, exitCodes } from '../failure.ts';
import type { On, Run } from '../run.ts';
import { withProgress } from '../terminal/progress.ts';
import { confirm } from '../terminal/prompt.ts';
import { safeLine } from '../terminal/safe.ts';
import { agentLine } from './shown.ts';

interface Verb {
  readonly description: string;
  /** Said while it is under way. */
  readonly doing: string;
  /** The status that it leads to. */
  readonly target: 'running' | 'paused' | 'stopped';
}

const verbs = {
  start: { description: 'Start a stopped agent.', doing: 'Starting', target: 'running' },
  stop: { description: 'Stop an agent. Its memory and disk are kept.', doing: 'Stopping', target: 'stopped' },
  pause: { description: 'Put an agent to sleep. A request wakes it.', doing: 'Pausing', target: 'paused' },
  resume: { description: 'Wake a paused agent.', doing: 'Resuming', target: 'running' },
  restart: { description: 'Restart the machine of an agent.', doing: 'Restarting', target: 'running' },
  upgrade: { description: 'Move an agent to the newest image of its runtime.', doing: 'Upgrading', target: 'running' },
} as const satisfies Readonly<Record<string, Verb>>;
type VerbName = keyof typeof verbs;

/** An upgrade boots a machine and copies a disk, which takes minutes on a slow host. */
const waitMs = 30 * 60_000;

export function define(command: Command, on: On): void {
  for (const [name, { description }] of Object.entries(verbs) as [VerbName, Verb][]) {
    const made = command
      .command(name)
      .argument(...agentArgument)
      .description(description)
      .option('--no-wait', 'return at once, before it is done');
    examples(made, [`lodge agents ${name} ada`, `${name} the agent ada`]).action(
      on(async (run, { wait }: { readonly wait: boolean }, meant: string) => {
        const agent = await agentOf(run, meant);
        const after = await withProgress(run.out, `${verbs[name].doing} ${safeLine(agent.name, 60)}`, () =>
          change(run, name, agent, wait),
        );
        run.out.result(after, () => agentLine(after));
      }),
    );
  }
  defineDelete(command, on);
  defineCheck(command, on);
}

async function change(run: Run, name: VerbName, { id }: Agent, wait: boolean): Promise<Agent> {
  const lodge = await run.lodge();
  const after = await lodge.agents[name](id, {}, { ...run.call, query: { wait: false } });
  const { target } = verbs[name];
  if (!wait || (after.status === target && after.transition === null)) return after;
  return lodge.agents.waitUntil(id, target, { ...run.call, timeoutMs: waitMs });
}

function defineDelete(command: Command, on: On): void {
  const made = command
    .command('delete')
    .alias('rm')
    .argument(...agentArgument)
    .description('Delete an agent with its machine, files and conversations.');
  examples(
    made,
    ['lodge agents delete ada', 'delete the agent ada, after a question'],
    ['lodge agents delete ada --yes', 'without a question, in a script'],
  ).action(
    on(async (run, _options: object, meant: string) => {
      const { id, name } = await agentOf(run, meant);
      if (!run.isYes)
        await confirm(run, `Delete ${safeLine(name)} (${safeLine(id)}) with all its files and conversations?`);
      const lodge = await run.lodge();
      const deleted = await withProgress(run.out, `Deleting ${safeLine(name, 60)}`, () =>
        lodge.agents.delete(id, run.call),
      );
      run.out.result(deleted, () => `Deleted ${safeLine(name)} (${safeLine(id)}).\n`);
    }),
  );
}

function defineCheck(command: Command, on: On): void {
  const made = command
    .command('check-keys')
    .argument(...agentArgument)
    .description("Ask the providers whether they accept the agent's keys.");
  examples(made, ['lodge agents check-keys ada', 'check the keys of the agent ada']).action(
    on(async (run, _options: object, meant: string) => {
      const { id } = await agentOf(run, meant);
      const lodge = await run.lodge();
      const checks = await withProgress(run.out, 'Asking the providers', () =>
        lodge.agents.checkLlmKeys(id, {}, run.call),
      );
      run.out.table(
        checks,
        checks.data,
        [
          { title: 'provider', value: ({ provider }) => provider },
          { title: 'key', value: ({ last4 }) => `...${last4}` },
          { title: 'works', value: ({ works }) => (works === null ? 'unknown' : works ? 'yes' : 'no') },
          { title: 'message', value: ({ message }) => message },
        ],
        'The agent has no keys.',
      );
      if (checks.data.some(({ works }) => works === false))
        throw new CommandError(
          exitCodes.failure,
          'A provider does not accept its key.',
          'Replace it: `lodge agents update AGENT --llm-key PROVIDER`.',
        );
    }),
  );
}
