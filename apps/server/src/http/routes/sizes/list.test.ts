import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testApp } from '../../../../../../packages/testkit/src/plane/http/test-app.ts';

test('the sizes are those of the specification', async () => {
  const { call } = testApp();
  const { status, body } = await call('GET', '/v1/sizes', { key: 'usage:read' });
  assert.equal(status, 200);
  const size = (id: string, vcpus: number, memoryGib: number) => ({
    object: 'size',
    id,
    vcpus,
    memory_mb: memoryGib * 1024,
    disk_gb: 10,
    default: id === 'medium',
  });
  const data = [size('small', 1, 2), size('medium', 2, 4), size('large', 2, 8), size('xlarge', 4, 16)];
  assert.deepEqual(body, { object: 'list', data, has_more: false, next_cursor: null });
});
