/** Runs one test file in a process of its own, and says what it took. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import type { Part } from './parts.ts';

/** node:test counts these, in the order of its own summary. */
export const counts = ['tests', 'suites', 'passed', 'failed', 'cancelled', 'skipped', 'todo'] as const;
export type Counts = Record<(typeof counts)[number], number>;

type TestEvent = Exclude<Parameters<NonNullable<ReturnType<typeof run>['push']>>[0], null>;

export interface Ran {
  readonly counts: Counts;
  readonly ms: number;
  /** Processor seconds of the file's process and all its descendants. */
  readonly cpu: number;
  /** The reporter is given these when the file is over, so that files beside one another do not mix their lines. */
  readonly events: readonly TestEvent[];
}

/** `measured.py` writes what each process took into this folder. */
const measures = mkdtempSync(join(tmpdir(), 'lodge-test-measures-'));
process.env['TESTS_MEASURES'] = measures;
process.once('exit', () => rmSync(measures, { recursive: true, force: true }));
// The runner starts each file with this program: it measures, and then becomes Lodge's Node.
process.execPath = join(import.meta.dirname, 'measured.py');

export async function runFile(file: string, part: Part, signal: AbortSignal): Promise<Ran> {
  const started = performance.now();
  const events: TestEvent[] = [];
  const summed = Object.fromEntries(counts.map((count) => [count, 0])) as Counts;
  // node:test's own bound is on each test, and not on a process that has none left and does not end.
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(part.fileTimeoutMs)]);
  const options = { files: [file], concurrency: 1, timeout: part.fileTimeoutMs, signal: bounded };
  for await (const event of run(options)) {
    // The runner's summary of this run gives way to the one of all runs.
    if (event.type === 'test:diagnostic' && event.data.nesting === 0 && event.data.file === undefined) continue;
    if (event.type !== 'test:summary') events.push(event);
    else if (event.data.file === undefined) {
      for (const count of counts) summed[count] += event.data.counts[count];
    }
  }
  return { counts: summed, ms: performance.now() - started, cpu: cpuOf(file), events };
}

function cpuOf(file: string): number {
  for (const name of readdirSync(measures)) {
    const path = join(measures, name);
    const [seconds, measured] = readFileSync(path, 'utf8').trim().split('\t');
    if (measured !== file) continue;
    rmSync(path);
    return Number(seconds);
  }
  return 0;
}
