import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { lock } from './lock.ts';

const name = `test ${process.pid}`;

test('a lock has one holder at a time, and the next gets it when it is given back', async () => {
  const release = await lock(name, { timeoutMs: 1000 });
  let busyCalls = 0;
  const second = lock(name, { timeoutMs: 5000, onBusy: () => (busyCalls += 1) });
  await assert.rejects(lock(name, { timeoutMs: 100 }), { code: 'timeout' });
  await assert.rejects(lock(name, { timeoutMs: 5000, signal: AbortSignal.timeout(50) }), { code: 'aborted' });
  release();
  (await second)();
  assert.equal(busyCalls, 1);
});

test('a lock whose holder is killed is free at once', async () => {
  const code = `
    import { lock } from ${JSON.stringify(import.meta.resolve('./lock.ts'))};
    await lock(${JSON.stringify(name)}, { timeoutMs: 1000 });
    console.log('held');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  await assert.rejects(lock(name, { timeoutMs: 100 }), { code: 'timeout' });
  child.kill('SIGKILL');
  await once(child, 'exit');
  (await lock(name, { timeoutMs: 1000 }))();
});
