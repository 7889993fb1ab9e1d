/** Names and keeping of the browser's disk. A build takes minutes and a network, so no ordinary test makes one. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { browserDiskBytes } from '@lodge/ports';
import { createBrowserDiskBuilder } from './browser-disk.ts';
import { imagesDir, silent } from './testing.ts';

const weekMs = 7 * 24 * 60 * 60_000;
const never = new AbortController().signal;
let folder = '';
before(() => {
  folder = mkdtempSync('/tmp/lodge-browser-disk-');
  for (const name of ['base', 'browser']) cpSync(join(imagesDir, name), join(folder, name), { recursive: true });
});
after(() => rmSync(folder, { recursive: true }));

const builderAt = (now: number, sourceDir = folder) =>
  createBrowserDiskBuilder({ cacheDir: join(folder, 'cache'), sourceDir, now: () => now, log: silent });

test('its id is the same everywhere, changes with its recipe and its files, and after four weeks', async () => {
  const id = await builderAt(0).id();
  assert.equal(await builderAt(weekMs, imagesDir).id(), id);
  assert.notEqual(await builderAt(4 * weekMs).id(), id);
  const hosts = join(folder, 'browser', 'files', 'etc', 'hosts');
  const text = readFileSync(hosts, 'utf8');
  writeFileSync(hosts, 'another');
  assert.notEqual(await builderAt(0).id(), id);
  writeFileSync(hosts, text);
  assert.equal(await builderAt(0).id(), id);
});

test('a disk that is there is not built again, and a torn one is not taken', async () => {
  const builder = builderAt(0);
  const id = await builder.id();
  const disk = join(folder, 'cache', 'browser', id);
  mkdirSync(disk, { recursive: true });
  writeFileSync(join(disk, 'browser-1.ext4'), 'short');
  const manifest = (size: number) =>
    writeFileSync(
      join(disk, 'manifest.json'),
      JSON.stringify({ files: { 'browser-1.ext4': { size, sha256: '' } }, facts: {} }),
    );
  manifest(5);
  assert.deepEqual(await builder.ensure(assert.fail, never), { id, path: join(disk, 'browser-1.ext4') });
  manifest(browserDiskBytes);
  const given = new AbortController();
  given.abort(new Error('given up before it was built'));
  await assert.rejects(builder.ensure(() => undefined, given.signal));
});
