import assert from 'node:assert/strict';
import { test } from 'node:test';
import { algorithmOf, isLeft } from './zram.ts';

test('the algorithm is the best that this kernel has, and the kernel’s own without one that is known', () => {
  assert.equal(algorithmOf('lzo [lzo-rle] lz4 zstd \n'), 'zstd');
  assert.equal(algorithmOf('[lzo-rle] lzo lz4 \n'), 'lz4');
  assert.equal(algorithmOf('[lz4]\n'), 'lz4');
  assert.equal(algorithmOf('[lzo-rle] lzo lz4hc\n'), null);
});

test('a device that a killed start has left is one of the same size without pages', () => {
  const bytes = 2 ** 30;
  assert.equal(isLeft({ size: bytes, stored: 0 }, bytes), true);
  assert.equal(isLeft({ size: bytes, stored: 4096 }, bytes), true, 'with its header');
  assert.equal(isLeft({ size: bytes, stored: 2 ** 20 }, bytes), false, 'somebody uses it');
  assert.equal(isLeft({ size: 2 * bytes, stored: 0 }, bytes), false);
  assert.equal(isLeft({ size: 0, stored: 0 }, bytes), false, 'it is not set up');
});
