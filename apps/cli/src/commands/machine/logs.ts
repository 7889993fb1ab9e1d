/** `lodge logs`: an agent's log, and how it grows. */
import type { LogEntry } from '@lodge/sdk';
import { Option } from 'commander';
import type { Command } from 'commander';
import { agentIdOf } from '../../agent-of.ts';
import { agentArgument } from '../../arguments.ts';
import { examples } from '../../examples.ts';
import type { On, Run } from '../../run.ts';
import type { Style } from '../../terminal/output.ts';
import { safeLine } from '../../terminal/safe.ts';
import { timeOption } from '../../streams/times.ts';
import { given, integer } from '../../values.ts';

interface LogOptions {
  readonly follow?: true;
  readonly lines: number;
  readonly since?: string;
  readonly until?: string;
  readonly level?: LogEntry['level'];
  readonly source?: LogEntry['source'];
  readonly search?: string;
}

const defaultLines = 100;
const maxLines = 100_000;
const pageSize = 1000;
const maxMessageChars = 10_000;
const colours: Readonly<Record<string, Style>> = { error: 'red', warn: 'yellow', debug: 'dim' };

export default function logs(command: Command, on: On): void {
  command
    .argument(...agentArgument)
    .option('-f, --follow', 'go on with what comes, until Ctrl-C')
    .option('-n, --lines <count>', 'the newest so many', integer(0, maxLines), defaultLines)
    .option('--since <time>', 'only from this time on: a time, or a span such as 15m, 2h or 1d', timeOption)
    .option('--until <time>', 'only before this time', timeOption)
    .addOption(
      new Option('--level <level>', 'only these and more severe ones').choices(['debug', 'info', 'warn', 'error']),
    )
    .addOption(
      new Option('--source <source>', 'only those of this source').choices([
        'system',
        'console',
        'gateway',
        'channel',
        'egress',
      ]),
    )
    .option('--search <text>', 'only those that contain this, in any case')
    .addHelpText('after', '\nAfter a cut, `--follow` goes on where it was.');
  examples(
    command,
    ['lodge logs ada', 'show the newest entries'],
    ['lodge logs ada -f --level warn', 'show warnings as they come'],
    ['lodge logs ada --since 2h --json', 'print the entries of the last two hours as lines of JSON'],
  ).action(on(showLogs));
}

async function showLogs(run: Run, options: LogOptions, agent: string): Promise<void> {
  const { follow, lines, since, until, level, source, search } = options;
  const filters = given({ since, level, source, search });
  const id = await agentIdOf(run, agent);
  const lodge = await run.lodge();
  if (!follow) {
    const newest: LogEntry[] = [];
    const query = { ...filters, ...given({ until }), limit: Math.max(1, Math.min(lines, pageSize)) };
    if (lines > 0)
      for await (const entry of lodge.agents.logs(id, query, run.call)) if (newest.push(entry) === lines) break;
    for (const entry of newest.toReversed()) show(run, entry);
    if (newest.length === 0 && !run.out.isJson) run.out.note('There are no such entries.');
    return;
  }
  const first = since === undefined ? { limit: Math.max(1, Math.min(lines, pageSize)) } : {};
  for await (const entry of lodge.agents.followLogs(id, { ...filters, ...first }, run.call)) show(run, entry);
}

function show(run: Run, entry: LogEntry): void {
  const { out } = run;
  out.item(entry, () => {
    const { timestamp, level, source, message } = entry;
    const colour = colours[level];
    const text = safeLine(message, maxMessageChars);
    const head = `${safeLine(timestamp, 40)} ${safeLine(level, 10).padEnd(5)} ${safeLine(source, 20)}`;
    return `${out.paint('dim', head)} ${colour === undefined ? text : out.paint(colour, text)}\n`;
  });
}
