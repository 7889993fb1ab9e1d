/**
 * Which files of the product know a platform or a runtime by name: those that the next one edits. Left out are comments, examples and
 * texts in the dashboard, all that is written from the tables, and what reads folders that other software made.
 */
import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../../..');
const product = [
  'packages/{access,broker,channels,connections,contract,domain,engine,guest,ports,runtimes,store,vm,webhooks}/src/**/*.ts',
  'apps/{cli,docs,server,web}/src/**/*.{ts,tsx}',
  'images/src/**/*.ts',
];
const leftOut =
  /\.test\.ts$|\/testing\/|\/testing\.ts$|^apps\/cli\/src\/(import\/|commands\/agents\/import\.ts$|words\.ts$)/;
const ownFolder = /^packages\/(channels|runtimes)\/src\/(slack|discord|telegram|whatsapp|gmail|openclaw|hermes)\//;

/** Returns the files in which a word of the pattern stands as a name: quoted, or as a key. */
async function naming(words: string): Promise<string[]> {
  const name = new RegExp(`'(${words})'|^ +(${words})(:| ===|,$)`, 'm');
  const found: string[] = [];
  for await (const path of glob(product, { cwd: root })) {
    if (leftOut.test(path) || ownFolder.test(path)) continue;
    const text = await readFile(join(root, path), 'utf8');
    const lines = text.split('\n').filter((line) => !/^ *(\/?\*|\/\/)|example|\['lodge /.test(line));
    if (name.test(lines.join('\n'))) found.push(path);
  }
  return found.sort();
}

// Pairing and consent are routes of the API for WhatsApp and Gmail, which is why these two are not counted.
test('three files of the product know platforms by name', async () => {
  assert.deepEqual(await naming('slack|discord|telegram'), [
    'apps/web/src/pages/agent/channels/platforms.tsx',
    'packages/channels/src/index.ts',
    'packages/domain/src/channels/platforms.ts',
  ]);
});

test('three files of the product know runtimes by name', async () => {
  assert.deepEqual(await naming('runtime_a|runtime_b|hermes'), [
    'apps/web/src/pages/create/runtime-section.tsx',
    'packages/domain/src/runtime-kinds.ts',
    'packages/runtimes/src/index.ts',
  ]);
});
