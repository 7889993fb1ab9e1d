/** A test with a long form is one of those that `npm run test:long` runs. */
import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { longForms } from './parts.ts';

const root = join(import.meta.dirname, '../..');

test('each file with a long form is run in it', async () => {
  const left: string[] = [];
  for await (const file of glob('{apps,images,packages,tests}/**/*.test.ts', { cwd: root })) {
    if (file.includes('node_modules/') || longForms.some((place) => file === place || file.startsWith(`${place}/`)))
      continue;
    if ((await readFile(join(root, file), 'utf8')).includes("from '@lodge/testkit/forms'")) left.push(file);
  }
  assert.deepEqual(left, []);
});
