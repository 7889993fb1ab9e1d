/** A plot of usage in text: a line for each bucket, with a bar as long as its share of the largest. */
import type { Usage, UsageBucket } from '@lodge/sdk';
import { cell } from '../terminal/output.ts';
import type { Output } from '../terminal/output.ts';
import { safeLine } from '../terminal/safe.ts';
import { cut, padded, width } from '../terminal/width.ts';
import { bytes, span } from '../terminal/words.ts';

const maxBars = 400;
const maxLabel = 32;
const narrowestBar = 5;
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

export function plot(out: Output, { data, bucket_width: bucketWidth, time_zone: zone }: Usage): string {
  const shown = data.slice(-maxBars);
  if (shown.length === 0) return 'Nothing was used.\n';
  const rows = shown.map((bucket) => ({
    label: cut(labelOf(bucket, bucketWidth, zone), maxLabel),
    cost: costOf(bucket),
    text: `$${safeLine(bucket.cost.total, 20)}`,
    tokens: bucket.llm.input_tokens + bucket.llm.output_tokens,
  }));
  const labels = Math.max(...rows.map(({ label }) => width(label)));
  const texts = Math.max(...rows.map(({ text }) => width(text)));
  const tokens = Math.max(...rows.map((row) => tokenText(row.tokens).length));
  const most = Math.max(...rows.map(({ cost }) => cost));
  const room = Math.max(narrowestBar, Math.min(60, out.columns - labels - texts - tokens - 8));
  return rows
    .map(({ label, cost, text, tokens: count }) => {
      const bar = padded(barOf(most === 0 ? 0 : cost / most, room), room);
      return `${padded(label, labels)}  ${out.paint('cyan', bar)}  ${padded(text, texts, 'right')}  ${tokenText(count).padStart(tokens)}\n`;
    })
    .join('');
}

const tokenText = (count: number): string => `${count.toLocaleString('en')} tokens`;

function barOf(share: number, room: number): string {
  const steps = Math.round(Math.min(1, Math.max(0, share)) * room * 8);
  return '█'.repeat(Math.floor(steps / 8)) + eighths[steps % 8]!;
}

const costOf = ({ cost }: UsageBucket): number => {
  const amount = Number(cost.total);
  return Number.isFinite(amount) ? amount : 0;
};

function labelOf({ starting_at: start, group }: UsageBucket, bucketWidth: Usage['bucket_width'], zone: string): string {
  const time = bucketWidth === 'all' ? '' : timeIn(zone, start, bucketWidth === '1d');
  return safeLine([time, group].filter((each) => each !== null && each !== '').join(' ') || 'all', maxLabel * 2);
}

function timeIn(zone: string, time: string, isDay: boolean): string {
  try {
    const form = new Intl.DateTimeFormat('sv', {
      timeZone: zone,
      dateStyle: 'short',
      ...(!isDay && { timeStyle: 'short' }),
    });
    return form.format(new Date(time));
  } catch {
    return time;
  }
}

export function totalsText(out: Output, { totals, starting_at: start, ending_at: end }: Usage): string {
  const { compute, llm, network, cost } = totals;
  return out.fields([
    ['from', cell(`${start} to ${end}`)],
    ['cost', cell(`$${cost.total} (models $${cost.llm}, machines $${cost.compute}, disks $${cost.storage})`)],
    [
      'model calls',
      cell(`${llm.requests}${llm.unpriced_requests > 0 ? ` (${llm.unpriced_requests} without a price)` : ''}`),
    ],
    ['tokens', cell(`${llm.input_tokens} in, ${llm.output_tokens} out, ${llm.cache_read_tokens} from caches`)],
    ['machines', cell(`running ${span(compute.running_seconds)}, processors ${span(compute.cpu_seconds)}`)],
    ['sent', cell(bytes(network.egress_bytes))],
  ]);
}
