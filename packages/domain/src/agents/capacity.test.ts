import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  cloneFootprintMib,
  defaultDisk,
  diskLevel,
  fitsDisk,
  mayWriteMib,
  memoryShortage,
  nextDiskLookMs,
  pausedHoldMib,
  promisedMib,
  writersToPause,
} from './capacity.ts';
import type { HostMemory, MemoryHolder, SizeName } from './capacity.ts';

const host = { totalMib: 9216, availableMib: 8000, reservedMib: 1024, overcommit: 1 };
const awake = (size: SizeName): MemoryHolder => ({ size, pausedMib: null });
const fits = (on: HostMemory, committed: readonly SizeName[], request: SizeName) =>
  memoryShortage(on, committed.map(awake), request) === null;

test('what is promised never exceeds memory times overcommit', () => {
  assert.equal(fits(host, [], 'large'), true);
  assert.equal(fits(host, ['small'], 'large'), false);
  assert.equal(fits({ ...host, overcommit: 2 }, ['large'], 'large'), true);
  assert.equal(fits({ ...host, overcommit: 2 }, ['large', 'large'], 'small'), false);
});

test('a host with too little free memory takes no agent however little is promised', () => {
  assert.equal(fits({ ...host, availableMib: 512 + cloneFootprintMib - 1 }, [], 'small'), false);
  assert.equal(fits({ ...host, availableMib: 512 + cloneFootprintMib }, [], 'small'), true);
});

test('a paused agent counts with what it holds, which overcommit does not stretch, and never with more than its size', () => {
  assert.deepEqual([pausedHoldMib(1), pausedHoldMib(160), pausedHoldMib(161)], [32, 176, 192]);
  const asleep = (pausedMib: number): MemoryHolder => ({ size: 'medium', pausedMib });
  assert.equal(promisedMib({ overcommit: 3 }, asleep(200)), 600);
  assert.equal(promisedMib({ overcommit: 3 }, asleep(2_000)), 4096);
  assert.equal(promisedMib({ overcommit: 3 }, awake('medium')), 4096);
});

test('24 GiB take a hundred paused agents of 200 MiB by the default overcommit, and say what the next one lacks', () => {
  const large = { totalMib: 24 * 1024, availableMib: 3_000, reservedMib: 1024, overcommit: 3 };
  const paused = (count: number): MemoryHolder[] =>
    Array.from({ length: count }, () => ({ size: 'medium', pausedMib: pausedHoldMib(200) }));
  assert.equal(memoryShortage(large, paused(99), 'medium'), null);
  assert.deepEqual(memoryShortage(large, [...paused(98), awake('medium')], 'medium'), {
    promisedMib: 98 * 672 + 2 * 4096 - 23 * 1024 * 3,
    freeMib: 0,
  });
  assert.deepEqual(memoryShortage({ ...large, availableMib: 1_500 }, [], 'medium'), { promisedMib: 0, freeMib: 36 });
});

const disk = { freeMib: 60 * 1024, reservedMib: 2048, floorMib: 2048, overcommit: 10 };
const fresh = (size: SizeName) => ({ size, diskMib: 0, snapshotMib: 0 });
const of = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

test('an agent may write the rest of its disk and one snapshot of its memory', () => {
  assert.equal(mayWriteMib(fresh('small')), 10 * 1024 + 2048);
  assert.equal(mayWriteMib({ size: 'small', diskMib: 10 * 1024, snapshotMib: 0 }), 2048);
  assert.equal(mayWriteMib({ size: 'small', diskMib: 11 * 1024, snapshotMib: 3000 }), 0);
});

test('what may be written fits into what is free beside reserve and floor, times the overcommit', () => {
  const plain = { ...disk, overcommit: 1 };
  assert.equal(fitsDisk(plain, of(4, fresh('small'))), true);
  assert.equal(fitsDisk(plain, of(5, fresh('small'))), false);
  assert.equal(fitsDisk({ ...plain, reservedMib: 60 * 1024 }, [fresh('small')]), false);
});

test('a laptop with 60 GiB free takes some tens of small agents by default', () => {
  assert.equal(fitsDisk({ ...defaultDisk, freeMib: 60 * 1024 }, of(40, fresh('small'))), true);
  assert.equal(fitsDisk({ ...defaultDisk, freeMib: 60 * 1024 }, of(60, fresh('small'))), false);
});

test('near the floor nothing is admitted, however little is promised', () => {
  assert.equal(fitsDisk({ ...disk, reservedMib: 0, freeMib: 2048 * 1.25 - 1, overcommit: 64 }, []), false);
  assert.equal(fitsDisk({ ...disk, reservedMib: 0, freeMib: 2048 * 1.25, overcommit: 64 }, []), true);
});

for (const [freeMib, level] of [
  [2560, 'ample'],
  [2559, 'low'],
  [2048, 'low'],
  [2047, 'short'],
  [1024, 'short'],
  [1023, 'critical'],
  [0, 'critical'],
] as const) {
  test(`${freeMib} MiB over a floor of 2048 are ${level}`, () => {
    assert.equal(diskLevel({ freeMib, floorMib: 2048 }), level);
  });
}

const growths = [
  { id: 'logs', grownMib: 0.5 },
  { id: 'some', grownMib: 20 },
  { id: 'most', grownMib: 900 },
  { id: 'many', grownMib: 300 },
  { id: 'less', grownMib: -40 },
];

test('below the floor the largest writers are paused, as few as leave little to the others', () => {
  assert.deepEqual(writersToPause({ freeMib: 2047, floorMib: 2048 }, growths), ['most', 'many', 'some']);
  assert.deepEqual(writersToPause({ freeMib: 2047, floorMib: 2048 }, growths.slice(0, 1)), []);
  assert.deepEqual(writersToPause({ freeMib: 19_000, floorMib: 20_000 }, growths), ['most', 'many']);
});

test('critical, whoever writes at all is paused; with room nobody is', () => {
  assert.deepEqual(writersToPause({ freeMib: 1000, floorMib: 2048 }, growths), ['most', 'many', 'some', 'logs']);
  assert.deepEqual(writersToPause({ freeMib: 2048, floorMib: 2048 }, growths), []);
});

test('the next look comes before the floor can be reached, and never later than 2 s', () => {
  assert.equal(nextDiskLookMs({ freeMib: 100_000, floorMib: 2048 }), 2_000);
  assert.equal(nextDiskLookMs({ freeMib: 2048 + 4000, floorMib: 2048 }), 1_000);
  assert.equal(nextDiskLookMs({ freeMib: 10, floorMib: 2048 }), 200);
});
