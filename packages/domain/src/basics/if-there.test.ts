import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ifThere, wasThere } from './if-there.ts';

const failed = (code: string): Promise<string> => Promise.reject(Object.assign(new Error(code), { code }));

test('an absent file is null, and every other failure stays one', async () => {
  assert.equal(await ifThere(Promise.resolve('text')), 'text');
  assert.equal(await ifThere(failed('ENOENT')), null);
  assert.equal(await ifThere(failed('ENOTDIR'), 'ENOTDIR'), null);
  await assert.rejects(ifThere(failed('ENOTDIR')), /ENOTDIR/);
  await assert.rejects(ifThere(Promise.reject(new Error('without a code'))), /without a code/);
  assert.equal(await wasThere(Promise.resolve()), true);
  assert.equal(await wasThere(failed('ENOENT')), false);
  await assert.rejects(wasThere(failed('EACCES')), /EACCES/);
});
