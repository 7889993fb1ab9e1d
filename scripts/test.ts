/**
 * Runs tests, files of all their parts beside one another, with one summary of node:test for all of them at the end.
 *   test.ts quick             a stage: quick, rounds, rest or long
 *   test.ts unit failure      these parts
 *   test.ts packages/store    the files under these folders, or these files
 * With TESTS_LONG=1 (`npm run test:long`), the files that have a long form, in that form. With TESTS_RECORD=1 the costs
 * of the parts are recorded (scripts/testing/costs.ts). Images and templates that the cache lacks are made beside the files that need none.
 */
import { existsSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { spec } from 'node:test/reporters';
import { isLongRun } from '@lodge/testkit/forms';
import { shareServer } from '@lodge/testkit/postgres';
import { shareCompiledCode } from '@lodge/testkit/compiled-code';
import { sharePrograms } from '@lodge/testkit/postgres-programs';
import { compare, costOf, writeRecord, type Cost } from './testing/costs.ts';
import { alone, longForms, parts, stages, type Part, type Stage } from './testing/parts.ts';
import { runAll, type Job } from './testing/pool.ts';
import { counts, runFile, type Counts } from './testing/run-file.ts';
import { TemplateJobs } from './testing/template-jobs.ts';
import { measureYardstick } from './testing/yardstick.ts';

/** The pool books more cores than there are, because a file's share of a core is a mean and no core shall be idle. */
const bounds = { cores: 1.4 * availableParallelism(), jobs: 2 + 3 * availableParallelism() };
const slowestShown = 25;
const labels: Readonly<Record<string, string>> = { passed: 'pass', failed: 'fail' };

/** A part, or the files of it that were asked for. */
class Running {
  readonly part: Part;
  readonly files: readonly string[];
  left: number;
  tests = 0;
  failed = 0;
  ms = 0;
  cpu = 0;
  private overdue: AbortSignal | null = null;

  constructor(part: Part, files: readonly string[]) {
    this.part = part;
    this.files = files;
    this.left = files.length;
  }

  get isWhole(): boolean {
    return isWhole(this.part);
  }

  /** The bound on the part begins with its first file. */
  get signal(): AbortSignal {
    return (this.overdue ??= AbortSignal.timeout(this.part.timeoutMs));
  }
}

const asked = process.argv.slice(2);
const wanted = isLongRun && asked.length === 0 ? longForms : asked;
const totals = Object.fromEntries(counts.map((count) => [count, 0])) as Counts;
const failures: string[] = [];
const costs = new Map<string, Cost>();
const started = performance.now();

const reporter = new spec();
reporter.pipe(process.stdout);
const yardstickBefore = await measureYardstick();
const templates = new TemplateJobs(say);
const all: Running[] = [];
const jobs: Job[] = [];
for (const stage of stages) {
  const before = [...jobs];
  for (const part of parts.filter((each) => each.stage === stage)) {
    const running = new Running(part, await filesOf(part));
    all.push(running);
    for (const file of running.files) {
      const after = [...templates.before(part, file), ...before];
      jobs.push({ cost: placeOf(part, file), after, run: () => runInPart(running, file) });
    }
  }
}
jobs.push(...templates.all);
const removePrograms = await sharePrograms();
const removeCode = await shareCompiledCode();
const stopServer = await shareServer();
await runAll(jobs, bounds);
await stopServer();
await removePrograms();
await removeCode();
const yardstick = (yardstickBefore + (await measureYardstick())) / 2;

const slowest = [...costs].sort(([, a], [, b]) => b.seconds - a.seconds).slice(0, slowestShown);
say('\n── the slowest files: seconds, and processor seconds\n');
for (const [file, { seconds, cpu }] of slowest) say(`${inSeconds(seconds)} ${inSeconds(cpu)}  ${file}\n`);
tellCosts();
for (const count of counts) diagnostic(`${labels[count] ?? count} ${totals[count]}`);
diagnostic(`duration_ms ${performance.now() - started}`);
if (totals.tests === 0) failures.push('no test matched');
if (failures.length > 0) {
  process.exitCode = 1;
  diagnostic(`failed: ${failures.join(', ')}`);
}
reporter.end();

function isWhole(part: Part): boolean {
  return wanted.includes(part.name) || wanted.includes(part.stage);
}

async function filesOf(part: Part): Promise<string[]> {
  const files: string[] = [];
  for await (const file of glob([...part.files], { exclude: ['**/node_modules/**', ...(part.except ?? [])] }))
    files.push(file);
  if (isWhole(part)) return files.sort();
  const names: readonly string[] = [...stages, ...parts.map(({ name }) => name)];
  const folders = wanted.filter((path) => !names.includes(path)).map((path) => path.replace(/\/$/, ''));
  return files.filter((file) => folders.some((folder) => file === folder || file.startsWith(`${folder}/`))).sort();
}

/** Gives a file's place in the pool: how long it takes, and how much of a core it keeps busy meanwhile. */
function placeOf({ cores: least = 0 }: Part, file: string): Job['cost'] {
  const { seconds, cpu } = costOf(file);
  if (alone.includes(file)) return { seconds, cores: bounds.cores };
  // A file that keeps all cores busy would not begin before all others are over.
  return { seconds, cores: Math.max(least, Math.min(cpu / seconds, 0.6 * availableParallelism())) };
}

async function runInPart(running: Running, file: string): Promise<void> {
  const ran = await runFile(file, running.part, running.signal);
  const { tests, passed, skipped, todo } = ran.counts;
  for (const count of counts) totals[count] += ran.counts[count];
  const cost = { seconds: ran.ms / 1000, cpu: ran.cpu };
  say(`\n── ${file}: ${inSeconds(cost.seconds)} s, ${inSeconds(cost.cpu)} s of processor\n`);
  for (const event of ran.events) reporter.write(event);
  costs.set(file, cost);
  running.tests += tests;
  running.failed += tests - passed - skipped - todo;
  running.ms += ran.ms;
  running.cpu += ran.cpu;
  running.left -= 1;
  if (running.left > 0) return;
  tellOf(running);
  const stage = all.filter(({ part: { stage: each } }) => each === running.part.stage);
  if (stage.every(({ left }) => left === 0)) tellOfStage(running.part.stage, stage);
}

/** The verdict on a stage comes when its last file is over, while a later stage may go on. */
function tellOfStage(stage: Stage, running: readonly Running[]): void {
  const sum = (of: (each: Running) => number): number => running.reduce((total, each) => total + of(each), 0);
  const failed = sum((each) => each.failed);
  const outcome =
    failed > 0 ? `${failed} FAILED of ${sum((each) => each.tests)}` : `${sum((each) => each.tests)} passed`;
  const over = inSeconds((performance.now() - started) / 1000);
  say(`\n══ ${stage}: ${outcome}, over after ${over} s, ${inSeconds(sum((each) => each.cpu))} s of processor\n`);
}

function tellOf({ part, files, tests, failed, ms }: Running): void {
  if (failed > 0) failures.push(part.name);
  const outcome = failed > 0 ? `${failed} FAILED of ${tests}` : `${tests} passed`;
  const over = inSeconds((performance.now() - started) / 1000);
  say(`\n── ${part.name}: ${outcome} in ${inSeconds(ms / 1000)} s (${files.length} files, all over after ${over} s)\n`);
}

/** Prints the processor seconds of each whole part beside those of the record. A part that has grown too much is a failure. */
function tellCosts(): void {
  say('\n── processor seconds of the parts\n');
  const whole = all.filter(({ isWhole: every, files }) => every && files.length > 0 && !isLongRun);
  for (const { part, cpu } of whole) {
    const { words, grown } = compare(part.name, cpu, yardstick);
    say(`${inSeconds(cpu)}  ${part.name} (${words})${grown ? ' GROWN BY MORE THAN HALF' : ''}\n`);
    if (grown && process.env['TESTS_RECORD'] !== '1') failures.push(`${part.name} has grown`);
  }
  if (process.env['TESTS_RECORD'] !== '1') return;
  // A part of which tests failed took less than it takes.
  const recorded = new Map(whole.filter(({ failed }) => failed === 0).map(({ part, cpu }) => [part.name, cpu]));
  writeRecord({ yardstick, parts: recorded, files: costs }, existsSync);
}

function inSeconds(seconds: number): string {
  return seconds.toFixed(1).padStart(8);
}

function say(message: string): void {
  reporter.write({ type: 'test:stdout', data: { file: '', message } });
}

function diagnostic(message: string): void {
  reporter.write({ type: 'test:diagnostic', data: { nesting: 0, message, level: 'info' } });
}
