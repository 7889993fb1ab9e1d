/** Times that people type: one of RFC 3339, or a span back from now. */
import { InvalidArgumentError } from 'commander';

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Parses an option. Returns a time as the API takes it. */
export function timeOption(text: string): string {
  const span = /^(\d{1,6})([smhdw])$/.exec(text);
  const time = span ? Date.now() - Number(span[1]) * seconds[span[2]!]! * 1000 : Date.parse(text);
  if (text.length <= 40 && !Number.isNaN(time)) return new Date(time).toISOString();
  throw new InvalidArgumentError('It must be a time such as 2027-01-31T09:00:00Z, or a span such as 15m, 2h or 1d.');
}
