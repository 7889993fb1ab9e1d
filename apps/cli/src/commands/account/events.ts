/** `lodge events`: what happened in the account, and what happens. */
import type { LodgeEvent } from '@lodge/sdk';
import type { Command } from 'commander';
import { agentIdOf } from '../../agent-of.ts';
import { examples } from '../../examples.ts';
import type { On, Run } from '../../run.ts';
import { timeOption } from '../../streams/times.ts';
import { safeJson, safeLine } from '../../terminal/safe.ts';
import { given, integer } from '../../values.ts';

interface EventOptions {
  readonly follow?: true;
  readonly lines: number;
  readonly type?: string;
  readonly agent?: string;
  readonly since?: string;
}

const maxLines = 10_000;
const defaultLines = 50;
const pageSize = 100;
const maxDataChars = 500;

export default function events(command: Command, on: On): void {
  command
    .option('-f, --follow', 'go on with what comes, until Ctrl-C')
    .option('-n, --lines <count>', 'the newest so many', integer(1, maxLines), defaultLines)
    .option('--type <type>', 'only those of this type, such as agent.paused')
    .option('--agent <agent>', 'only those of this agent')
    .option('--since <time>', 'only from this time on: a time, or a span such as 15m, 2h or 1d', timeOption)
    .addHelpText(
      'after',
      '\nAfter a cut, `--follow` goes on where it was: nothing is left out, and nothing comes twice.',
    );
  examples(
    command,
    ['lodge events', 'show the newest events'],
    ['lodge events -f --agent ada', 'show what happens to ada'],
    ['lodge events -f --json | jq .type', 'print the types as events come'],
  ).action(on(showEvents));
}

async function showEvents(run: Run, options: EventOptions): Promise<void> {
  const { follow, lines, type, agent, since } = options;
  const agentId = agent === undefined ? undefined : await agentIdOf(run, agent);
  const filters = given({ type, agent_id: agentId, since }) as object;
  const lodge = await run.lodge();
  const limit = Math.min(lines, pageSize);
  if (follow) {
    const first = since === undefined ? { limit } : {};
    for await (const event of lodge.events.follow({ ...filters, ...first }, run.call)) show(run, event);
    return;
  }
  const newest: LodgeEvent[] = [];
  for await (const event of lodge.events.list({ ...filters, limit }, run.call)) if (newest.push(event) === lines) break;
  for (const event of newest.toReversed()) show(run, event);
  if (newest.length === 0 && !run.out.isJson) run.out.note('There are no such events.');
}

function show(run: Run, event: LodgeEvent): void {
  run.out.item(event, () => {
    const { created_at: time, type, agent_id: agent, data } = event;
    const text = Object.keys(data).length === 0 ? '' : ` ${safeLine(safeJson(data), maxDataChars)}`;
    const head = run.out.paint('dim', safeLine(time, 40));
    return `${head} ${safeLine(type, 60)}${agent === null ? '' : ` ${safeLine(agent, 20)}`}${run.out.paint('dim', text)}\n`;
  });
}
