/**
 * How fast the list of agents answers with 1,000 agents in it, in a real Chromium: typing into the search, sorting, scrolling by
 * wheel, and choosing all. The browser's own event timing tells how long each key, click and wheel waited for its next frame.
 *
 *   node_modules/.bin/node benchmarks/web-agents.ts [--agents 1000]
 */
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { addAgents, openAgentsPlace } from '../tests/web/agents-place.ts';
import { launch } from '../tests/web/browser.ts';

const { values } = parseArgs({ options: { agents: { type: 'string', default: '1000' } } });
const count = Number(values.agents);

const place = await openAgentsPlace();
const browser = await launch(Number(new URL(place.url).port));
try {
  const ada = { name: 'Ada Lovelace', email: 'ada@example.test', password: 'analytical engine 1843' };
  const { page, accountId } = await place.signedIn(browser, [], ada, 'owner');
  await addAgents(place.sql, accountId, count);
  await page.goto(`${place.url}/agents`);
  const begun = performance.now();
  await page.getByRole('table', { name: 'Agents' }).waitFor();
  const firstMs = performance.now() - begun;
  await page.getByText(`${count.toLocaleString('en')} agents`, { exact: true }).waitFor();
  const allMs = performance.now() - begun;
  await page.evaluate(`(() => {
    window.timings = [];
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) window.timings.push(duration);
    }).observe({ type: 'event', durationThreshold: 16 });
  })()`);
  const rows: (readonly [what: string, worstMs: number])[] = [];
  const measured = async (what: string, work: () => Promise<void>): Promise<void> => {
    await page.evaluate('window.timings.length = 0');
    await work();
    await page.evaluate('new Promise((done) => setTimeout(done, 300))');
    const timings = (await page.evaluate('window.timings')) as readonly number[];
    rows.push([what, Math.max(0, ...timings)]);
  };
  const search = page.getByLabel('Search agents');
  await measured('typing 9 letters into the search', () => search.pressSequentially('agent 777'));
  await measured('deleting them', async () => {
    for (let letter = 0; letter < 9; letter += 1) await search.press('Backspace');
  });
  for (const column of ['Name', 'Last active', 'Spend this month']) {
    await measured(`sorting by ${column}`, () => page.getByRole('button', { name: column }).click());
  }
  await measured('scrolling by wheel, 60 turns', async () => {
    await page.mouse.move(700, 500);
    for (let turn = 0; turn < 60; turn += 1) await page.mouse.wheel(0, 600);
    await page.evaluate('window.scrollTo(0, 0)');
  });
  await measured('selecting all', () => page.getByRole('checkbox', { name: 'Select all shown agents' }).click());
  console.log(`${count} agents; ${cpus()[0]?.model}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}`);
  console.log(`first rows after ${firstMs.toFixed(0)} ms, all after ${allMs.toFixed(0)} ms\n`);
  console.log('| action | worst wait for a frame, ms |\n| --- | ---: |');
  for (const [what, worstMs] of rows) console.log(`| ${what} | ${worstMs === 0 ? '< 16' : worstMs} |`);
} finally {
  await browser.close();
  await place.close();
}
