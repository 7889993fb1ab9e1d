/**
 * Every snippet of the documents is run against a real API, with fake machines and the real daemon of guests. A snippet that
 * cannot be run says why in its fence, and is counted here, so that none is left out silently.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pagesWithBlocks } from './blocks.ts';
import type { Block } from './blocks.ts';
import { Place } from './place.ts';
import { Runner } from './runner.ts';

/** Snippets that are not run, by page. */
const notRun: Readonly<Record<string, number>> = {
  'README.md': 5,
  'docs/guides/accounts.md': 4,
  'docs/guides/agent-tools.md': 1,
  'docs/guides/backup.md': 1,
  'docs/guides/browser.md': 2,
  'docs/guides/cli.md': 2,
  'docs/guides/coming-from/e2b-daytona.md': 1,
  'docs/guides/coming-from/openai-assistants.md': 1,
  'docs/guides/coming-from/openclaw-hermes.md': 1,
  'docs/guides/confirmations.md': 3,
  'docs/guides/connections.md': 1,
  'docs/guides/container.md': 2,
  'docs/guides/github-agent.md': 1,
  'docs/guides/import.md': 3,
  'docs/guides/mcp.md': 3,
  'docs/guides/operating.md': 3,
  'docs/guides/quick-start.md': 2,
  'docs/guides/report-behind-a-login.md': 1,
  'docs/guides/service.md': 1,
  'docs/guides/snapshots.md': 4,
  'docs/guides/workspace.md': 2,
  'packages/sdk-python/README.md': 2,
};

const pages = await pagesWithBlocks();
let place: Place;
let ran = 0;
before(async () => {
  place = await Place.open();
});
after(() => place?.close());

for (const [file, blocks] of pages) {
  const runs = blocks.filter(({ notRun, language }) => notRun === null && language !== 'text');
  if (runs.length > 0) test(file, () => runPage(file, runs));
}

async function runPage(file: string, blocks: readonly Block[]): Promise<void> {
  const facts = await place.begin(file);
  const runner = await Runner.open({ ...place.variables(), ...facts.variables });
  const named = (block: Block) => (error: Error) => {
    throw new Error(`${block.file}:${block.line}\n${block.text}\n${error.message}`, { cause: error });
  };
  try {
    if (facts.first !== undefined) await runner.shell(facts.first);
    const of = async (language: Block['language']): Promise<string[]> => {
      const texts = blocks.filter((block) => block.language === language).map(({ text }) => place.filled(text, facts));
      return Promise.all(texts);
    };
    for (const block of blocks) {
      if (block.language === 'json') JSON.parse(block.text);
      if (block.language === 'yaml') await runner.keep(block.text);
      if (block.language !== 'sh') continue;
      const text = await place.filled(block.text, facts);
      if (text.includes('$AGENT')) runner.set({ AGENT: runner.has('AGENT') ?? (await place.agent()) });
      const output = await runner.shell(text).catch(named(block));
      runner.set(facts.read?.(output) ?? {});
    }
    const javascript = await of('js');
    const { before, after } = facts;
    if (javascript.length > 0) await runner.javascript([before?.js ?? '', ...javascript, after?.js ?? '']);
    const python = await of('python');
    if (python.length > 0) await runner.python([before?.python ?? '', ...python]);
    ran += blocks.length;
  } finally {
    await runner.close();
    await place.end();
  }
}

test('as many snippets are not run as are known, each with its reason', (t) => {
  const found: Record<string, number> = {};
  for (const block of [...pages.values()].flat().filter(({ notRun }) => notRun !== null)) {
    found[block.file] = (found[block.file] ?? 0) + 1;
    t.diagnostic(`not run: ${block.file}:${block.line}: ${block.notRun}`);
  }
  t.diagnostic(`${ran} snippets ran; ${Object.values(found).reduce((sum, count) => sum + count, 0)} did not`);
  assert.deepEqual(found, notRun);
});
