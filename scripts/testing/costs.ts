/**
 * Compares the tests with their last recorded costs (`costs.json`, written by `TESTS_RECORD=1 npm run test:all`). The pool
 * schedules files by them, and a part that has grown by half since fails the run.
 *
 * Machines differ, so a record holds the processor seconds of a fixed piece of work on its machine (`yardstick.ts`) as well,
 * and times are compared as multiples of that.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Cost {
  /** Wall seconds on two cores without KVM, beside other files. */
  readonly seconds: number;
  /** Processor seconds of the file's process and all its descendants. */
  readonly cpu: number;
}

interface Record {
  /** Processor seconds of the fixed piece of work. */
  readonly yardstick: number;
  /** Processor seconds of whole parts. */
  readonly parts: { readonly [name: string]: number };
  readonly files: { readonly [file: string]: Cost };
}

const path = join(import.meta.dirname, 'costs.json');
/** A part fails when it takes more than this many times what it took. */
const maxGrowth = 1.5;
/** Smaller parts vary by more than half from run to run, in processor seconds. */
const smallPart = 20;
/** Files that take less are not recorded. */
const shortFile = 3;

const record = JSON.parse(readFileSync(path, 'utf8')) as Record;

/** Gives a short file's cost for one that is not recorded. */
export function costOf(file: string): Cost {
  return record.files[file] ?? { seconds: shortFile, cpu: shortFile * 0.4 };
}

/** Compares a part's processor seconds with the record: in words, and whether it has grown too much. */
export function compare(
  name: string,
  cpu: number,
  yardstick: number,
): { readonly words: string; readonly grown: boolean } {
  const before = record.parts[name];
  if (before === undefined) return { words: 'no result before', grown: false };
  const expected = before * (yardstick / record.yardstick);
  const grown = cpu > maxGrowth * expected && cpu > smallPart;
  return { words: `${before.toFixed(0)} s recorded, ${expected.toFixed(0)} s at this machine's speed`, grown };
}

export interface Results {
  readonly yardstick: number;
  readonly parts: ReadonlyMap<string, number>;
  readonly files: ReadonlyMap<string, Cost>;
}

/** Records what was run, beside what others parts took before; `exists` tells whether a file of the record is still there. */
export function writeRecord({ yardstick, parts, files }: Results, exists: (file: string) => boolean): void {
  const scale = yardstick / record.yardstick;
  const kept = Object.entries(record.files).filter(([file]) => exists(file) && !files.has(file));
  const scaled = kept.map(([file, { seconds, cpu }]): [string, Cost] => [file, rounded(seconds * scale, cpu * scale)]);
  const measured = [...files].filter(([, { seconds }]) => seconds > shortFile);
  const all = [...scaled, ...measured.map(([file, { seconds, cpu }]): [string, Cost] => [file, rounded(seconds, cpu)])];
  const before = Object.entries(record.parts).map(([name, cpu]): [string, number] => [name, Math.round(cpu * scale)]);
  const after = [...parts].map(([name, cpu]): [string, number] => [name, Math.round(cpu)]);
  const next: Record = {
    yardstick: Number(yardstick.toFixed(2)),
    parts: Object.fromEntries([...before, ...after]),
    files: Object.fromEntries(all.sort(([, a], [, b]) => b.seconds - a.seconds)),
  };
  writeFileSync(path, `${JSON.stringify(next, null, 2)}\n`);
}

const rounded = (seconds: number, cpu: number): Cost => ({ seconds: Math.round(seconds), cpu: Math.round(cpu) });
