import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sizes } from '@lodge/domain';
import { diskRate, diskRates } from './disk-rate.ts';

test('a larger machine may read and write more, and a factor of the operator holds for all', () => {
  const found = Object.values(sizes).map((size) => diskRate(size, 1));
  assert.deepEqual(
    found,
    diskRates.map(({ requestsPerSecond, mibPerSecond }) => ({ requestsPerSecond, mibPerSecond })),
  );
  assert.deepEqual(diskRate({ memoryMib: 3000 }, 0.5), { requestsPerSecond: 500, mibPerSecond: 40 });
  assert.deepEqual(diskRate({ memoryMib: 2048 }, 0.0001), { requestsPerSecond: 1, mibPerSecond: 0.004 });
});
