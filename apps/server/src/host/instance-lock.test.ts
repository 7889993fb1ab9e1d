import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { AlreadyRunningError, lockHolder, lockInstance, startTimeOf } from './instance-lock.ts';

test('a data folder has one control plane, and one killed hard leaves no lock behind', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'lodge-lock-'));
  t.after(() => rm(dir, { recursive: true }));
  const module = new URL('./instance-lock.ts', import.meta.url).href;
  const script = `const { lockInstance } = await import(${JSON.stringify(module)}); await lockInstance(${JSON.stringify(dir)}); console.log('held'); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');

  assert.deepEqual(await lockHolder(dir), { pid: child.pid, startTime: await startTimeOf(child.pid!) });
  await assert.rejects(lockInstance(dir), AlreadyRunningError);

  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(await lockHolder(dir), null);
  const unlock = await lockInstance(dir);
  assert.equal((await lockHolder(dir))?.pid, process.pid);
  await unlock();
  assert.equal(await lockHolder(dir), null);
});
