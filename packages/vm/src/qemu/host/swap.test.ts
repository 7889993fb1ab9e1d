import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { isZram, memoryOfSwapped, swapAreas } from './swap.ts';

const folder = await mkdtemp(join(tmpdir(), 'lodge-swap-'));
after(() => rm(folder, { recursive: true }));
const head = 'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n';
let hosts = 0;

async function hostOf(files: Readonly<Record<string, string>>): Promise<string> {
  const root = join(folder, String((hosts += 1)));
  for (const [path, text] of Object.entries({ 'proc/meminfo': 'MemTotal:  24684092 kB\n', ...files })) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return root;
}

test('a host without swap has no area, whether or not its kernel knows of swap', async () => {
  assert.deepEqual(await swapAreas(await hostOf({ 'proc/swaps': head })), []);
  assert.deepEqual(await swapAreas(await hostOf({})), []);
});

test('pages in zram count with what they take compressed, pages on a disk with nothing', async () => {
  const zram = '/dev/zram0                              partition\t4194300\t\t1024\t\t100\n';
  const disk = '/swapfile                               file\t\t2097148\t\t3072\t\t-2\n';
  // Original bytes, compressed bytes, bytes in use, and more.
  const stat = '1048576 200000 262144 0 262144 0 0 0 0\n';
  const files = { 'sys/block/zram0/mm_stat': stat };
  const compressed = await hostOf({ ...files, 'proc/swaps': head + zram });
  assert.deepEqual(await swapAreas(compressed), [{ path: '/dev/zram0', totalKib: 4194300, usedKib: 1024 }]);
  assert.equal(await memoryOfSwapped(compressed), 1 / 4);
  assert.equal(await memoryOfSwapped(await hostOf({ ...files, 'proc/swaps': head + zram + disk })), 1 / 16);
  assert.equal(await memoryOfSwapped(await hostOf({ 'proc/swaps': head + disk })), 0);
  const zswap = { 'proc/meminfo': 'Zswap:              1536 kB\nZswapped:           3000 kB\n' };
  assert.equal(await memoryOfSwapped(await hostOf({ ...zswap, 'proc/swaps': head + disk })), 1 / 2);
});

test('pages that take more in swap than they had, or cannot be told, count whole', async () => {
  const zram = '/dev/zram3 partition 4194300 USED 100\n';
  const files = { 'sys/block/zram3/mm_stat': '4096 4096 1048576 0 1048576 0 0 0 0\n' };
  assert.equal(await memoryOfSwapped(await hostOf({ ...files, 'proc/swaps': head + zram.replace('USED', '4') })), 1);
  assert.equal(await memoryOfSwapped(await hostOf({ ...files, 'proc/swaps': head + zram.replace('USED', '0') })), 1);
});

test('only a device of zram is one', () => {
  assert.deepEqual(
    ['/dev/zram0', '/dev/zram12', '/zram0.swap', '/dev/sda2', '/dev/zram'].map((path) => isZram({ path })),
    [true, true, false, false, false],
  );
});
