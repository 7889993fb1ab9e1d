import assert from 'node:assert/strict';
import { glob, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { withLinks } from './links.ts';
import { readSections, sections } from './pages.ts';
import type { Page } from './pages.ts';
import { addTexts, stage } from './stage.ts';

const root = join(import.meta.dirname, '../../..');
const filled = await readSections(root);
const pages = filled.flatMap((section) => section.pages);

test('every guide and page of the reference is in the navigation, once', async () => {
  const listed = sections.flatMap((section) => section.pages).map((name) => `${name}.md`);
  assert.equal(new Set(listed).size, listed.length);
  for await (const file of glob('docs/{guides,reference}/**/*.md', { cwd: root })) {
    assert.ok(listed.includes(file), `${file} has no place in apps/docs/src/pages.ts`);
  }
});

test('every link of the pages leads to something, and pages are laid out under their places', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lodge-pages-'));
  await stage(root, folder);
  const first = await readFile(join(folder, 'index.md'), 'utf8');
  assert.match(first, /\]\(\.\/guides\/usage\.md\)/);
  assert.match(first, /\]\(\/v1\/openapi\.json\)\{target="_self"\}/);
  for (const page of [first, await readFile(join(folder, 'guides/dashboard.md'), 'utf8')]) {
    assert.match(page, /^!\[[^\]]+\]\(\/pictures\/dashboard-light\.png\)\{\.in-light width=1280 height=800/m);
    assert.ok(!page.includes('<picture>'));
  }
  await rm(folder, { recursive: true });
});

test('a link that leads nowhere is refused, and one to a file that is no page is text', () => {
  const page = (text: string): Page => ({ file: 'docs/guides/a.md', place: 'guides/a', title: 'A', summary: '', text });
  const known = new Map(pages.map((one) => [one.file, one]));
  const led = (text: string): string => withLinks(page(text), known, root);
  assert.throws(() => led('[x](nothing.md)'), /docs\/guides\/a\.md links to nothing\.md, which is not there/);
  assert.equal(led('[why](../adr/0001-one-root-process.md)'), 'why');
  assert.equal(led('[s](../security.md#a)'), '[s](../security.md#a)');
  assert.equal(led('[c](channels/README.md)'), '[c](./channels/index.md)');
  assert.equal(led('```\n[x](nothing.md)\n```'), '```\n[x](nothing.md)\n```');
});

test('llms.txt names every page with a sentence, and llms-full.txt has them all', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lodge-texts-'));
  await addTexts(root, folder);
  const list = await readFile(join(folder, 'llms.txt'), 'utf8');
  const whole = await readFile(join(folder, 'llms-full.txt'), 'utf8');
  for (const { title, place, summary } of pages) {
    assert.ok(summary.length > 10 && summary.length < 300, `${place}: ${summary}`);
    assert.ok(list.includes(`- [${title}](/docs/${place}.md): ${summary}`), place);
    assert.ok(whole.includes(`# ${title}\n`), place);
    assert.ok((await readFile(join(folder, `${place}.md`), 'utf8')).startsWith(`# ${title}\n`));
  }
  await rm(folder, { recursive: true });
});
