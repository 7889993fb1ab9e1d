/** `lodge agents list` and `show`. */
import type { Command } from 'commander';
import { Option } from 'commander';
import { agentOf } from '../agent-of.ts';
import { agentArgument } from '../arguments.ts';
import { examples } from '../examples.ts';
import { maxListed, pageOf, showList } from '../gathered.ts';
import type { On, Run } from '../run.ts';
import { given, integer, pairs } from '../values.ts';
import { runtimes } from '../words.ts';
import type { RuntimeName } from '../words.ts';
import { agentColumns, agentFields } from './shown.ts';

const statuses = ['provisioning', 'running', 'paused', 'stopped', 'error'] as const;
const defaultListed = 100;

interface ListOptions {
  readonly status?: (typeof statuses)[number];
  readonly runtime?: RuntimeName;
  readonly name?: string;
  readonly label?: Readonly<Record<string, string>>;
  readonly hasLabel?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly limit: number;
}

export function define(command: Command, on: On): void {
  const list = command
    .command('list')
    .alias('ls')
    .description('List your agents, newest first.')
    .addOption(new Option('--status <status>', 'only agents in this status').choices(statuses))
    .addOption(new Option('--runtime <kind>', 'only agents of this runtime').choices(Object.values(runtimes)))
    .option('--name <text>', 'only agents whose name contains this')
    .option('--label <name=value>', 'only agents with this label; several times for several', pairs)
    .option('--has-label <name>', 'only agents with a label of this name')
    .option('--metadata <name=value>', 'only agents with this pair; several times for several pairs', pairs)
    .option('--limit <count>', 'at most so many', integer(1, maxListed), defaultListed);
  examples(
    list,
    ['lodge agents list', 'show the newest agents'],
    ['lodge agents list --status running --json', 'print running agents as JSON'],
    ['lodge agents list | cut -f1', 'print their ids, one a line'],
  ).action(on(listAgents));
  const show = command
    .command('show')
    .argument(...agentArgument)
    .description('Show one agent.');
  examples(show, ['lodge agents show ada', 'show the agent ada']).action(
    on(async (run, _options: object, meant: string) => {
      const agent = await agentOf(run, meant);
      run.out.result(agent, () => agentFields(run.out, agent));
    }),
  );
}

async function listAgents(run: Run, options: ListOptions): Promise<void> {
  const { status, runtime, name, label, hasLabel, metadata, limit } = options;
  const lodge = await run.lodge();
  const filters = given({ status, runtime_kind: runtime, name, label, has_label: hasLabel, metadata });
  await showList(
    run,
    lodge.agents.list({ ...filters, limit: pageOf(limit) }, run.call),
    limit,
    agentColumns(run.out),
    'There is no such agent. `lodge agents create` makes one.',
  );
}
