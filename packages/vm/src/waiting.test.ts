import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VmError } from '@lodge/ports';
import { toVmError } from './waiting.ts';

const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' });

test('an error says that the disk was full, however deep it lies, unless the error says more', () => {
  const deep = new VmError('failed', 'QEMU did not start', { cause: new Error('a pipe', { cause: full }) });
  assert.equal(toVmError(full).code, 'disk_full');
  assert.deepEqual([toVmError(deep).code, toVmError(deep).message], ['disk_full', 'QEMU did not start']);
  const gone = new VmError('gone', 'it is not there', { cause: full });
  assert.equal(toVmError(gone), gone);
  assert.equal(toVmError(new Error('other', { cause: new Error('deeper') })).code, 'failed');
});
