/** Copies of a process's memory that is written between the passes, the process being this one. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { PageCopy } from './page-copy.ts';
import { chunkBytes } from './page-job.ts';
import type { SavedPages } from './page-job.ts';
import { indexEntries, pageBytes } from './pages.ts';

const pages = 3000;
const folder = mkdtempSync(join(tmpdir(), 'lodge-copy-'));
const path = join(folder, 'pages');
after(() => rmSync(folder, { recursive: true }));

/** Whole pages of this process, and where they are. */
const room = Buffer.alloc((pages + 1) * pageBytes);
const mark = randomBytes(32);
room.set(mark);
const found = addressOf(mark);
const memory = room.subarray((pageBytes - (found % pageBytes)) % pageBytes).subarray(0, pages * pageBytes);
const address = Math.ceil(found / pageBytes) * pageBytes;

function addressOf(wanted: Buffer): number {
  const mem = openSync('/proc/self/mem', 'r');
  const part = Buffer.alloc(room.length);
  try {
    for (const line of readFileSync('/proc/self/maps', 'utf8').split('\n')) {
      const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw-p/.exec(line) ?? [];
      const [begin, end] = [Number(`0x${from}`), Number(`0x${to}`)];
      if (!(end - begin >= room.length && end - begin < 2 ** 28)) continue;
      for (let at = begin; at < end; at += pageBytes) {
        // An allocation begins a few bytes behind its mapping, or where it is aligned to.
        if (readSync(mem, part, 0, pageBytes, at) !== pageBytes) break;
        const offset = part.subarray(0, pageBytes).indexOf(wanted);
        if (offset >= 0) return at + offset;
      }
    }
  } finally {
    closeSync(mem);
  }
  throw new Error('this process does not find its own memory');
}

const page = (number: number): Buffer => memory.subarray(number * pageBytes, (number + 1) * pageBytes);

/** The memory that the copy stands for: later entries of the index are laid over earlier ones. */
function laid(saved: SavedPages, beneath: number): Buffer {
  const whole = Buffer.alloc(memory.length, beneath);
  const file = readFileSync(path);
  assert.equal(file.length, saved.bytes);
  let at = 0;
  for (const { first, count, isZero } of indexEntries(saved.index)) {
    const bytes = isZero ? Buffer.alloc(count * pageBytes) : file.subarray(at, (at += count * pageBytes));
    whole.set(bytes, first * pageBytes);
  }
  assert.equal(at, file.length);
  const pieces = Array.from({ length: Math.ceil(file.length / chunkBytes) }, (_, piece) =>
    crc32(file.subarray(piece * chunkBytes, (piece + 1) * chunkBytes)),
  );
  assert.deepEqual([...saved.sums], pieces);
  return whole;
}

for (const blank of [true, false]) {
  test(`pages written between two passes are in the copy, ${blank ? 'over nothing' : 'over a template'}`, async () => {
    memory.set(randomBytes(memory.length));
    for (let number = 0; number < pages; number += 7) page(number).fill(0);
    page(1500).fill(0);
    const region = { address, bytes: memory.length, blank };
    const job = { do: 'ahead', pid: process.pid, regions: [region], path, isSynced: false } as const;
    const copy = new PageCopy(job);
    assert.ok(copy.goesOnAs({ ...job, do: 'save' }));
    assert.ok(!copy.goesOnAs({ ...job, regions: [{ ...region, bytes: pageBytes }] }));
    await copy.pass();
    for (let pass = 0; pass < 2; pass += 1) {
      // Bytes here and there, pages that held zeros, pages that hold zeros now, and a long run.
      for (let number = pass; number < pages; number += 40) page(number)[number % pageBytes]! ^= 1;
      for (let number = 7 * pass; number < pages; number += 70) page(number).set(randomBytes(pageBytes));
      for (let number = 5 + pass; number < pages; number += 90) page(number).fill(0);
      memory.set(randomBytes(600 * pageBytes), (900 + pass * 1100) * pageBytes);
      await copy.pass();
    }
    const saved = await copy.end();
    await copy.close();
    assert.ok(laid(saved, blank ? 0 : 0xaa).equals(memory));
    assert.ok(saved.bytes < memory.length * 1.02, 'no page is in the file twice');
  });
}
