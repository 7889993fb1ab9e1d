import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
/** Paths of this checkout in backticks; `<resource>` and the like stand for any name. */
const quotedPath = /`((?:packages|apps|tests|docs|scripts|images|benchmarks|\.ci)\/[^`\s]*)`/g;
const link = /\]\((?!https?:|#)([^)#\s]+)/g;

test('every path and link in the documents leads to something', async () => {
  const missing: string[] = [];
  for await (const page of glob(['*.md', 'docs/**/*.md'], { cwd: root })) {
    const text = await readFile(join(root, page), 'utf8');
    for (const [, path = ''] of text.matchAll(quotedPath)) {
      if (!(await isThere(path.replace(/[:(].*$/, '')))) missing.push(`${page}: ${path}`);
    }
    for (const [, target = ''] of text.matchAll(link)) {
      if (!existsSync(join(root, dirname(page), target))) missing.push(`${page}: ${target}`);
    }
  }
  assert.deepEqual(missing, []);
});

async function isThere(path: string): Promise<boolean> {
  const pattern = path.replaceAll(/<[^>]*>|NNNN_name/g, '*');
  for await (const _ of glob(pattern, { cwd: root })) return true;
  return false;
}
