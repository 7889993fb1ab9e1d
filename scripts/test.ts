/**
 * Runs the tests in parts, cheapest first, with one summary of node:test for all of them at the end.
 *   test.ts                   everything
 *   test.ts unit failure      these parts
 *   test.ts packages/store    the files under these folders, or these files
 * Images and templates that the cache lacks are made beside the first parts, which leave a core idle most of the time, and
 * are there when the first part needs them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { glob } from 'node:fs/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

interface Part {
  readonly name: string;
  readonly files: readonly string[];
  /** Those of them that another part has. */
  readonly except?: readonly string[];
  /** Parts of one pool, one after another here, run as one with what the first says: it is to have the file that takes longest. */
  readonly pool?: string;
  /** Test files at a time. A virtual machine keeps a core busy, and its tests measure time. */
  readonly concurrency: number;
  /** Its agents are real ones. */
  readonly templates?: true;
  /** Bounds on one file and on the whole part, in ms. */
  readonly testTimeoutMs: number;
  readonly timeoutMs: number;
}

const minuteMs = 60_000;
/** No machine is booted: two files at a time, for many of them wait for a browser, a database or a bound of time. */
const light = { pool: 'light', concurrency: 2, testTimeoutMs: 5 * minuteMs, timeoutMs: 15 * minuteMs };
const machines = { concurrency: 1, testTimeoutMs: 25 * minuteMs, timeoutMs: 40 * minuteMs };
/** A machine at a time keeps one core busy and waits a good deal: two files at a time fit into two cores. */
const pairs = { ...machines, concurrency: 2 };
const attacksOnTheApi = 'tests/security/api.test.ts';
const overFakes = [
  'tests/e2e/{agent-urls,bad-input,isolation,spend,usage}.test.ts',
  'tests/e2e/contract/*.test.ts',
  attacksOnTheApi,
];
const fakeDriver = 'packages/vm/conformance/fake.test.ts';
const runtimes = 'packages/runtimes/conformance/**/*.test.ts';
const parts: readonly Part[] = [
  { name: 'web', files: ['tests/web/**/*.test.ts'], ...light },
  { name: 'api', files: overFakes, ...light },
  {
    name: 'unit',
    files: ['packages/!(vm)/**/*.test.ts', fakeDriver, 'apps/**/*.test.ts', 'scripts/**/*.test.ts'],
    except: [runtimes],
    ...light,
  },
  { name: 'images', files: ['images/**/*.test.ts'], ...machines },
  { name: 'machines', files: ['packages/vm/**/*.test.ts'], except: [fakeDriver], ...machines },
  // OpenClaw's suite takes as long as all the rest of the pool, which has the other core meanwhile.
  {
    name: 'e2e',
    files: ['tests/e2e/**/*.test.ts', runtimes],
    except: overFakes,
    ...pairs,
    pool: 'guests',
    testTimeoutMs: 35 * minuteMs,
    templates: true,
  },
  // Bare guests, which mostly wait.
  { name: 'failure', files: ['tests/failure/**/*.test.ts'], ...pairs, pool: 'guests' },
  // Each on a private host of its own, waiting most of the time for what does not come.
  { name: 'security', files: ['tests/security/**/*.test.ts'], except: [attacksOnTheApi], ...pairs },
];

/** What node:test counts, in the order of its own summary. */
const counts = ['tests', 'suites', 'passed', 'failed', 'cancelled', 'skipped', 'todo'] as const;
const labels: Readonly<Record<string, string>> = { passed: 'pass', failed: 'fail' };

const wanted = process.argv.slice(2);
const totals = Object.fromEntries(counts.map((count) => [count, 0]));
const failedParts: string[] = [];
const started = performance.now();

const reporter = new spec();
reporter.pipe(process.stdout);
const chosen: { readonly part: Part; readonly files: string[] }[] = [];
for (const part of parts) {
  const files = await filesOf(part);
  const last = chosen.at(-1);
  if (files.length === 0) continue;
  if (last && part.pool !== undefined && last.part.pool === part.pool) {
    chosen[chosen.length - 1] = {
      part: { ...last.part, name: `${last.part.name}, ${part.name}` },
      files: [...last.files, ...files],
    };
  } else chosen.push({ part, files });
}
const templates = parts.some((part) => part.templates && isWhole(part)) ? makeTemplates() : null;
for (const { part, files } of chosen) {
  if (part.templates) await templates;
  await runPart(part, files);
}
for (const count of counts) diagnostic(`${labels[count] ?? count} ${totals[count]}`);
diagnostic(`duration_ms ${performance.now() - started}`);
if (totals['tests'] === 0) failedParts.push('no test matched');
if (failedParts.length > 0) {
  process.exitCode = 1;
  diagnostic(`failed: ${failedParts.join(', ')}`);
}
reporter.end();

function isWhole(part: Part): boolean {
  return wanted.length === 0 || wanted.includes(part.name);
}

async function filesOf(part: Part): Promise<string[]> {
  const all: string[] = [];
  for await (const file of glob([...part.files], { exclude: ['**/node_modules/**', ...(part.except ?? [])] }))
    all.push(file);
  if (isWhole(part)) return all.sort();
  const folders = wanted.map((path) => path.replace(/\/$/, ''));
  return all.filter((file) => folders.some((folder) => file === folder || file.startsWith(`${folder}/`))).sort();
}

async function runPart(part: Part, files: string[]): Promise<void> {
  const startedPart = performance.now();
  say(`\n── ${part.name}: ${files.length} files\n`);
  let failed = 0;
  let tests = 0;
  const overdue = AbortSignal.timeout(part.timeoutMs);
  for await (const event of run({
    files,
    concurrency: part.concurrency,
    timeout: part.testTimeoutMs,
    signal: overdue,
  })) {
    // The runner's summary of this run gives way to the one of all runs.
    if (event.type === 'test:diagnostic' && event.data.nesting === 0 && event.data.file === undefined) continue;
    if (event.type === 'test:summary') {
      if (event.data.file !== undefined) continue;
      for (const count of counts) totals[count]! += event.data.counts[count];
      tests = event.data.counts.tests;
      failed = tests - event.data.counts.passed - event.data.counts.skipped - event.data.counts.todo;
      continue;
    }
    reporter.write(event);
  }
  if (failed > 0) failedParts.push(part.name);
  const seconds = ((performance.now() - startedPart) / 1000).toFixed(1);
  say(`── ${part.name}: ${failed > 0 ? `${failed} FAILED of ${tests}` : `${tests} passed`} in ${seconds} s\n`);
}

/** A failure shows in the tests that need them. */
async function makeTemplates(): Promise<void> {
  const startedMaking = performance.now();
  const child = spawn(process.execPath, ['scripts/make-templates.ts'], { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.on('data', (text: Buffer) => say(String(text)));
  const [code] = await once(child, 'exit');
  const seconds = ((performance.now() - startedMaking) / 1000).toFixed(1);
  say(`── templates: ${code === 0 ? 'ready' : 'FAILED'} after ${seconds} s\n`);
}

function say(message: string): void {
  reporter.write({ type: 'test:stdout', data: { file: '', message } });
}

function diagnostic(message: string): void {
  reporter.write({ type: 'test:diagnostic', data: { nesting: 0, message, level: 'info' } });
}
