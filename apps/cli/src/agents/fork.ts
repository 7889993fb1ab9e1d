/** `lodge agents fork`. */
import type { ForkAgent } from '@lodge/sdk';
import type { Command } from 'commander';
import { Option } from 'commander';
import { agentOf } from '../agent-of.ts';
import { agentArgument } from '../arguments.ts';
import { examples } from '../examples.ts';
import type { On, Run } from '../run.ts';
import { withProgress } from '../terminal/progress.ts';
import { safeLine } from '../terminal/safe.ts';
import { given, integer, readObject } from '../values.ts';
import { agentLine } from './shown.ts';

interface ForkOptions {
  readonly name?: string;
  readonly count?: number;
  readonly snapshot?: string;
  readonly include?: readonly string[];
  readonly llmKeys: boolean;
  readonly input?: string;
  readonly wait: boolean;
}

export function define(command: Command, on: On): void {
  const fork = command
    .command('fork')
    .argument(...agentArgument)
    .description('Make agents that go on from where this one is, or was at a snapshot.')
    .option('--name <text>', 'their display name')
    .option('--count <number>', 'how many are made, 1 to 20', integer(1, 20))
    .option('--snapshot <id>', 'a snapshot of the agent to begin from: `lodge snapshots list` shows them')
    .addOption(
      new Option('--include <what...>', 'what else they get of it').choices([
        'schedules',
        'connections',
        'ports',
        'browser',
      ]),
    )
    .option('--no-llm-keys', 'without the keys of its LLM providers')
    .option('--input <path>', 'a JSON file with more fields of the request, - for stdin')
    .option('--no-wait', 'return once it is saved, before they run');
  examples(
    fork,
    ['lodge agents fork ada --count 5', 'make five agents that go on from where ada is'],
    ['lodge agents fork ada --snapshot s4k8m2q9t1ab --include connections', 'begin from a snapshot, with services'],
  ).action(on(forkAgent));
}

async function forkAgent(run: Run, options: ForkOptions, meant: string): Promise<void> {
  const { name, count, snapshot, include, llmKeys, input, wait } = options;
  const body = {
    ...(input === undefined ? {} : await readObject(run, input)),
    ...given({ name, count, snapshot, include }),
    ...(!llmKeys && { llm_keys: 'none' }),
  } as ForkAgent;
  const parent = await agentOf(run, meant);
  const lodge = await run.lodge();
  const made = await withProgress(run.out, `Forking ${safeLine(parent.name, 60)}`, () =>
    lodge.agents.fork(parent.id, body, { ...run.call, query: { wait } }),
  );
  run.out.result(made, () => made.data.map((agent) => agentLine(agent)).join(''));
}
