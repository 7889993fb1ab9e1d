import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { findProcesses, isAlive, kill, readMark, spawnDetached } from './process.ts';
import { until } from '../../waiting.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lodge-process-'));
});
after(() => rm(folder, { recursive: true, force: true }));

test('a process is told from a later one with the same pid', async () => {
  const child = spawn('sleep', ['60']);
  const mark = readMark(child.pid!)!;
  assert.ok(isAlive(mark));
  assert.equal(isAlive({ ...mark, startTime: mark.startTime - 1 }), false);
  await kill({ ...mark, startTime: mark.startTime - 1 });
  assert.ok(isAlive(mark), 'the process that now has the pid is left alone');
  await kill(mark);
  assert.equal(isAlive(mark), false);
  await kill(mark);
});

test('a detached process has a session of its own, nothing of our environment, and what it prints in its log', async () => {
  process.env['LODGE_TEST_SECRET'] = 'must not be inherited';
  const log = await open(join(folder, 'log'), 'a');
  const mark = await spawnDetached(['sh', '-c', 'env; echo session $(ps -o sid= -p $$) $$; exec sleep 60'], {
    output: log.fd,
  });
  await log.close();
  try {
    const printed = await until(
      async () => {
        const text = await readFile(join(folder, 'log'), 'utf8');
        return text.includes('session') ? text : null;
      },
      { what: 'output', everyMs: 5, timeoutMs: 5000 },
    );
    assert.doesNotMatch(printed, /SECRET|HOME/);
    assert.match(printed, new RegExp(`session\\s+${mark.pid} ${mark.pid}`));
    assert.equal((await readFile(`/proc/${mark.pid}/oom_score_adj`, 'utf8')).trim(), '500');
  } finally {
    delete process.env['LODGE_TEST_SECRET'];
    await kill(mark);
  }
});

test('a process nobody wrote down is found by an argument of its command line', async () => {
  const marker = `/lodge-test-${process.pid}/marker`;
  const child = spawn('sh', ['-c', 'read line', marker]);
  try {
    const found = await findProcesses((argument) => argument === marker);
    assert.deepEqual(
      found.map(({ pid }) => pid),
      [child.pid],
    );
    assert.deepEqual(await findProcesses((argument) => argument === `${marker}-other`), []);
  } finally {
    child.kill('SIGKILL');
  }
});

test('a command that does not exist is an error of the caller', async () => {
  const log = await open(join(folder, 'log'), 'a');
  await assert.rejects(spawnDetached(['/no/such/command'], { output: log.fd }), { code: 'ENOENT' });
  await log.close();
});
