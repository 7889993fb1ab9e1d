/**
 * Runs the tests, files of all parts beside one another, with one summary of node:test for all of them at the end.
 *   test.ts                   everything
 *   test.ts unit failure      these parts
 *   test.ts packages/store    the files under these folders, or these files
 * With TESTS_LONG=1 (`npm run test:long`), the files that have a long form, in that form.
 * Images and templates that the cache lacks are made beside the files that need none.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { glob } from 'node:fs/promises';
import { availableParallelism, setPriority } from 'node:os';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { isLongRun } from '@lodge/testkit/forms';
import { shareServer } from '@lodge/testkit/postgres';
import { sharePrograms } from '@lodge/testkit/postgres-programs';
import { costOf, longForms, parts, type Part } from './testing/parts.ts';
import { runAll, type Job } from './testing/pool.ts';

/** More than there is: what a file takes of a core is a mean, and no core shall be idle. */
const bounds = { cores: 1.3 * availableParallelism(), jobs: 1 + 2 * availableParallelism() };
const slowestShown = 25;
/** A nice value: some nine times the share of other work. */
const templatePriority = -10;

/** What node:test counts, in the order of its own summary. */
const counts = ['tests', 'suites', 'passed', 'failed', 'cancelled', 'skipped', 'todo'] as const;
const labels: Readonly<Record<string, string>> = { passed: 'pass', failed: 'fail' };

/** A part, or what was asked for of it. */
class Running {
  readonly part: Part;
  readonly files: readonly string[];
  left: number;
  tests = 0;
  failed = 0;
  ms = 0;
  private overdue: AbortSignal | null = null;

  constructor(part: Part, files: readonly string[]) {
    this.part = part;
    this.files = files;
    this.left = files.length;
  }

  /** The bound on the part begins with its first file. */
  get signal(): AbortSignal {
    return (this.overdue ??= AbortSignal.timeout(this.part.timeoutMs));
  }
}

const asked = process.argv.slice(2);
const wanted = isLongRun && asked.length === 0 ? longForms : asked;
const totals = Object.fromEntries(counts.map((count) => [count, 0]));
const failedParts: string[] = [];
const durations: { readonly file: string; readonly ms: number }[] = [];
const started = performance.now();

const reporter = new spec();
reporter.pipe(process.stdout);
/** First, for the longest files wait for it, and ahead of others: a boot that they slow down too much runs into its bound. */
const templates: Job = {
  cost: { seconds: Infinity, cores: 0.8 * availableParallelism() },
  after: null,
  run: makeTemplates,
};
const jobs: Job[] = [];
for (const part of parts) {
  const files = await filesOf(part);
  const running = new Running(part, files);
  const after = part.templates ? templates : null;
  for (const file of files) jobs.push({ cost: costOf(file), after, run: () => runFile(running, file) });
}
if (jobs.some(({ after }) => after === templates)) jobs.push(templates);
const removePrograms = await sharePrograms();
const stopServer = await shareServer();
await runAll(jobs, bounds);
await stopServer();
await removePrograms();

durations.sort((a, b) => b.ms - a.ms);
say('\n── the slowest files\n');
for (const { file, ms } of durations.slice(0, slowestShown)) say(`${seconds(ms).padStart(8)} s  ${file}\n`);
for (const count of counts) diagnostic(`${labels[count] ?? count} ${totals[count]}`);
diagnostic(`duration_ms ${performance.now() - started}`);
if (totals['tests'] === 0) failedParts.push('no test matched');
if (failedParts.length > 0) {
  process.exitCode = 1;
  diagnostic(`failed: ${failedParts.join(', ')}`);
}
reporter.end();

function isWhole(part: Part): boolean {
  return (wanted.length === 0 && !part.isLong) || wanted.includes(part.name);
}

async function filesOf(part: Part): Promise<string[]> {
  const all: string[] = [];
  for await (const file of glob([...part.files], { exclude: ['**/node_modules/**', ...(part.except ?? [])] }))
    all.push(file);
  if (isWhole(part)) return all.sort();
  const folders = wanted.map((path) => path.replace(/\/$/, ''));
  return all.filter((file) => folders.some((folder) => file === folder || file.startsWith(`${folder}/`))).sort();
}

/** Tells of the file when it is over, so that files beside one another do not mix their lines. */
async function runFile(running: Running, file: string): Promise<void> {
  const { part } = running;
  const startedFile = performance.now();
  const told: Parameters<typeof reporter.write>[0][] = [];
  const options = { files: [file], concurrency: 1, timeout: part.fileTimeoutMs, signal: running.signal };
  for await (const event of run(options)) {
    // The runner's summary of this run gives way to the one of all runs.
    if (event.type === 'test:diagnostic' && event.data.nesting === 0 && event.data.file === undefined) continue;
    if (event.type !== 'test:summary') told.push(event);
    else if (event.data.file === undefined) {
      for (const count of counts) totals[count]! += event.data.counts[count];
      const { tests, passed, skipped, todo } = event.data.counts;
      running.tests += tests;
      running.failed += tests - passed - skipped - todo;
    }
  }
  const ms = performance.now() - startedFile;
  say(`\n── ${file}: ${seconds(ms)} s\n`);
  for (const event of told) reporter.write(event);
  durations.push({ file, ms });
  running.ms += ms;
  running.left -= 1;
  if (running.left === 0) tellOf(running);
}

function tellOf({ part, files, tests, failed, ms }: Running): void {
  if (failed > 0) failedParts.push(part.name);
  const outcome = failed > 0 ? `${failed} FAILED of ${tests}` : `${tests} passed`;
  const over = seconds(performance.now() - started);
  say(`\n── ${part.name}: ${outcome} in ${seconds(ms)} s (${files.length} files, all over after ${over} s)\n`);
}

/** A failure shows in the tests that need them. */
async function makeTemplates(): Promise<void> {
  const startedMaking = performance.now();
  const child = spawn(process.execPath, ['scripts/make-templates.ts'], { stdio: ['ignore', 'pipe', 'inherit'] });
  // Its machines inherit it. Without root it goes on as it is.
  try {
    setPriority(child.pid!, templatePriority);
  } catch {
    say('── templates: not ahead of other work, for that takes root\n');
  }
  child.stdout.on('data', (text: Buffer) => say(String(text)));
  const [code] = await once(child, 'exit');
  const took = seconds(performance.now() - startedMaking);
  say(`── templates: ${code === 0 ? 'ready' : 'FAILED'} after ${took} s\n`);
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

function say(message: string): void {
  reporter.write({ type: 'test:stdout', data: { file: '', message } });
}

function diagnostic(message: string): void {
  reporter.write({ type: 'test:diagnostic', data: { nesting: 0, message, level: 'info' } });
}
