/**
 * The cost of messaging channels:
 *   (1) messages a second through a relay, and the time that it adds to one, against a direct loop on the same stub
 *   (2) memory and processor of idle connections of each platform, and of 1,000 bots of Telegram in one relay
 *
 *   node_modules/.bin/node benchmarks/channels.ts [--only idle|talk] [--quiet 300] [--busy-seconds 15]
 *
 * The idle ones are measured beside each other. The answerer answers at once, so the figures contain none of its time.
 */
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { idle } from './channels/idle.ts';
import type { IdleFigures } from './channels/idle.ts';
import { talk } from './channels/talk.ts';
import type { Busy, TalkFigures } from './channels/talk.ts';
import { telegramRelay } from './channels/telegram-relay.ts';
import type { RelayFigures } from './channels/telegram-relay.ts';
import { median, millis, table } from './figures.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    quiet: { type: 'string', default: '300' },
    'busy-seconds': { type: 'string', default: '15' },
  },
});
const bots = 1_000;
const mib = (of: number): string => of.toFixed(0);

const load = (): string => loadavg()[0]!.toFixed(1);
console.log(`# channels, ${new Date().toISOString().slice(0, 10)}\n`);
console.log(
  `${cpus().length} cores (${cpus()[0]!.model.trim()}), Node ${process.version}, load ${load()} at the start.`,
);
if (values.only !== 'idle') {
  const options = { bots: 25, chatsOfBot: 4, quietMessages: Number(values.quiet), rounds: 2 };
  printTalk(await talk({ ...options, busyMs: Number(values['busy-seconds']) * 1000 }));
  console.log(`\nLoad ${load()} after the messages.`);
}
if (values.only !== 'talk') {
  const relay = telegramRelay(bots);
  const platforms = await Promise.all([
    idle('telegram', bots),
    idle('slack', 300),
    idle('discord', 300),
    idle('whatsapp', 100),
    idle('gmail', bots),
  ]);
  printIdle(platforms);
  printRelay(await relay);
  console.log(`\nLoad ${load()} at the end.`);
}
// Stubs hold connections open.
process.exit(0);

function printIdle(figures: readonly IdleFigures[]): void {
  const rows = figures.map((each) => [
    each.channel,
    String(each.connections),
    mib(each.firstMib),
    mib(each.allMib),
    each.kibEach.toFixed(0),
    each.heapKibEach.toFixed(1),
    millis(each.connectMsEach),
    each.cpuPercentOfThousand.toFixed(1),
  ]);
  const head = ['connections to', 'open', 'MiB with one', 'MiB', 'KiB each', 'heap KiB each', 'ms CPU to connect'];
  console.log(`\n## Idle connections\n\n${table([...head, 'CPU % of 1,000'], rows)}`);
}

function printRelay({ bots: held, emptyMib, rssMib, peakMib, cpuPercent }: RelayFigures): void {
  const row = [String(held), mib(emptyMib), mib(rssMib), mib(peakMib), cpuPercent.toFixed(1)];
  console.log(`\n## One relay with Postgres, Telegram over TLS\n`);
  console.log(table(['bots', 'MiB empty', 'MiB', 'MiB at most', 'CPU %'], [row]));
}

function printTalk({ quiet, busy, rows }: TalkFigures): void {
  const quantiles = (ms: readonly number[]): readonly number[] => [median(ms), quantile(ms, 0.99)];
  const [relayed, direct] = [quantiles(quiet.relay), quantiles(quiet.direct)];
  const added = relayed.map((ms, at) => ms - direct[at]!);
  console.log(`\n## One message when it is quiet, ${quiet.relay.length} of each\n`);
  console.log(
    table(
      ['', 'median ms', 'p99 ms'],
      [
        ['relay', ...relayed.map(millis)],
        ['direct', ...direct.map(millis)],
        ['added', ...added.map(millis)],
        ['times', ...relayed.map((ms, at) => (ms / direct[at]!).toFixed(1))],
      ],
    ),
  );
  const line = (name: string, all: readonly Busy[]): string[] => [
    name,
    all.map(({ perSecond }) => perSecond.toFixed(0)).join(', '),
    median(all.map(({ perSecond }) => perSecond)).toFixed(0),
    ...quantiles(all.flatMap(({ tookMs }) => tookMs)).map(millis),
    median(all.map(({ cpuMs }) => cpuMs)).toFixed(1),
    median(all.map(({ behindCpuMs }) => behindCpuMs)).toFixed(1),
  ];
  const head = ['', 'messages/s, rounds', 'median', 'one takes, median ms', 'p99 ms', 'CPU ms each', 'behind it'];
  console.log(`\n## 100 conversations at once\n`);
  console.log(table(head, [line('relay', busy.relay), line('direct', busy.direct)]));
  console.log(`\n${rows.answered} of ${rows.all} rows are answered.`);
}

function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
