/**
 * How fast the page of a log answers with 100,000 lines in it, in a real Chromium: typing into the search, scrolling by wheel and
 * by dragging the bar, wrapping all lines, and all of that while more lines come. A trace tells the longest task of the page's
 * main thread; the browser's own event timing tells how long each key, click and wheel waited for its next frame.
 *
 *   node_modules/.bin/node benchmarks/web-logs.ts [--lines 100000] [--trace trace.json]
 */
import { writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import type { NewLogEntry } from '@lodge/ports';
import type { Locator, Page } from 'playwright-core';
import { openMachinePlace } from '../tests/web/machine-place.ts';
import { logWriter } from '@lodge/store/logs';

const { values } = parseArgs({ options: { lines: { type: 'string', default: '100000' }, trace: { type: 'string' } } });
const lineCount = Number(values.lines);
const batch = 1000;

/** How many lines the page says that it has. */
const linesHere = `Number((/([\\d,]+) lines here/.exec(document.body.innerText)?.[1] ?? '0').replaceAll(',', ''))`;

const place = await openMachinePlace();
const { page } = place;
try {
  await page.goto(place.at('logs'));
  await page.getByText('Live', { exact: true }).waitFor();
  const begun = performance.now();
  for (let from = 0; from < lineCount; from += batch) await append(from, batch);
  await page.getByText(new RegExp(`^${lineCount / 1000},00\\d lines here$`)).waitFor();
  const seconds = (performance.now() - begun) / 1000;
  await observe();
  const rows = [
    await measured('scrolling by wheel, 120 turns', scrollByWheel),
    await measured('jumping along the scroll bar, 40 places', jumpAlong),
    await measured('wrapping all lines, and back', wrap),
    await measured('typing 24 letters into the search', typeSearch),
    await measured('typing and scrolling while 2,000 lines a second come', whileMoreCome),
    await measured('a search that leaves few lines', leaveFew),
  ];
  report(rows, seconds);
} finally {
  await place.close();
}

function append(from: number, count: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, n): NewLogEntry => {
    const level = (from + n) % 50 === 7 ? 'warn' : 'info';
    return {
      level,
      source: 'gateway',
      message: `[gateway] request ${crypto.randomUUID()} was handled, number ${from + n}`,
    };
  });
  return logWriter(place.world.store.database).append(place.agentId, lines);
}

/** Keeps the durations of events, from the input to the next frame, in steps of 8 ms. Shorter ones than 16 ms are not told. */
function observe(): Promise<unknown> {
  return page.evaluate(`(() => {
    window.timings = [];
    new PerformanceObserver((list) => {
      for (const { name, duration } of list.getEntries()) window.timings.push([name, duration]);
    }).observe({ type: 'event', durationThreshold: 16 });
  })()`);
}

interface Row {
  readonly what: string;
  /** Lines in the page at the beginning. */
  readonly lines: number;
  readonly longestTaskMs: number;
  readonly tasksOver50: number;
  readonly worstEventMs: number;
}

async function measured(what: string, work: (page: Page) => Promise<void>): Promise<Row> {
  await page.evaluate('window.timings.length = 0');
  const lines = Number(await page.evaluate(linesHere));
  await place.browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline'] });
  await work(page);
  await page.evaluate('new Promise((done) => setTimeout(done, 500))');
  const trace = await place.browser.stopTracing();
  if (values.trace !== undefined) await writeFile(`${what.replaceAll(/\W+/g, '-')}-${values.trace}`, trace);
  const tasks = tasksOf(JSON.parse(trace.toString()) as Trace);
  const timings = (await page.evaluate('window.timings')) as readonly (readonly [string, number])[];
  return {
    what,
    lines,
    longestTaskMs: Math.max(0, ...tasks),
    tasksOver50: tasks.filter((ms) => ms > 50).length,
    worstEventMs: Math.max(0, ...timings.map(([, ms]) => ms)),
  };
}

interface Trace {
  readonly traceEvents: readonly TraceEvent[];
}
interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly dur?: number;
  readonly args?: { readonly name?: string; readonly data?: { readonly type?: string } };
}

/** The tasks of the page's main thread, in ms: of the renderer in which events were dispatched to the page. */
function tasksOf({ traceEvents }: Trace): readonly number[] {
  const pages = new Set(traceEvents.filter(({ name }) => name === 'EventDispatch').map(({ pid }) => pid));
  const mains = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  return traceEvents
    .filter(
      ({ name, ph, pid, tid }) =>
        name.endsWith('RunTask') && ph === 'X' && pages.has(pid) && mains.has(`${pid} ${tid}`),
    )
    .map(({ dur = 0 }) => dur / 1000);
}

function search(): Locator {
  return page.getByLabel('Search the log', { exact: true });
}

function box(): Locator {
  return page.getByRole('log', { name: 'Log lines' });
}

/** Faster than the search begins, so that all lines are there with each key. */
async function typeSearch(): Promise<void> {
  await search().focus();
  for (const letter of 'number 31415 was handled')
    await page.keyboard.press(letter === ' ' ? 'Space' : letter, { delay: 20 });
  await search().fill('');
}

async function scrollByWheel(): Promise<void> {
  await box().hover();
  for (let turn = 0; turn < 120; turn += 1) await page.mouse.wheel(0, turn < 80 ? -700 : 700);
}

async function jumpAlong(): Promise<void> {
  for (let step = 1; step <= 40; step += 1) {
    const share = 0.5 + (step % 20) / 50;
    await page.evaluate(`{
      const box = document.querySelector('[role=log]');
      box.scrollTop = box.scrollHeight * ${share};
    }`);
    await page.evaluate('new Promise((done) => requestAnimationFrame(done))');
  }
}

async function whileMoreCome(): Promise<void> {
  const coming = (async () => {
    for (let n = 0; n < 6; n += 1) {
      await append(lineCount + n * batch, batch);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  })();
  await search().focus();
  for (const letter of 'abcdefgh') await page.keyboard.press(letter, { delay: 10 });
  await search().fill('');
  await scrollByWheel();
  await coming;
}

async function wrap(): Promise<void> {
  const button = page.getByRole('button', { name: 'Wrap lines' });
  for (let times = 0; times < 2; times += 1) {
    await button.click();
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 200)))');
  }
}

async function leaveFew(): Promise<void> {
  await search().fill('number 31415');
  await page.getByText(/^[12]?\d lines? here$/).waitFor();
}

function report(rows: readonly Row[], seconds: number): void {
  const cpu = cpus()[0]?.model ?? 'unknown processor';
  console.log(`${cpus().length} cores (${cpu}), ${lineCount} lines. Load average: ${loadavg()[0]?.toFixed(1)}.`);
  console.log(`The lines came in ${seconds.toFixed(0)} s, followed by the page.\n`);
  console.log(
    '| interaction | lines | slowest event, ms | longest task, ms | tasks over 50 ms |\n| --- | --- | --- | --- | --- |',
  );
  for (const { what, lines, longestTaskMs, tasksOver50, worstEventMs } of rows) {
    console.log(
      `| ${what} | ${lines} | ${worstEventMs || 'under 16'} | ${longestTaskMs.toFixed(0)} | ${tasksOver50} |`,
    );
  }
}
