import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@lodge/ports';
import { ImageError } from './errors.ts';
import { run } from './run.ts';
import { silent } from './testing.ts';

let folder = '';
before(() => {
  folder = mkdtempSync('/tmp/lodge-run-');
});
after(() => rmSync(folder, { recursive: true }));

const never = new AbortController().signal;
const tool = { timeoutMs: 20_000, advice: 'Try again.' };

async function ended(pid: number): Promise<void> {
  for (const deadline = Date.now() + 10_000; existsSync(`/proc/${pid}`) && !isZombie(pid); await sleep(20)) {
    assert.ok(Date.now() < deadline, `process ${pid} lives on`);
  }
}

const isZombie = (pid: number): boolean => / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

test('a failed tool is told with its last words and what to do; the rest is in the log', async () => {
  const logged: object[] = [];
  const log: Log = { ...silent, error: (fields) => logged.push(fields) };
  const argv = ['sh', '-c', 'echo one; echo two >&2; exit 4'] as const;
  const failing = run({ ...tool, argv }, { log, signal: never });
  await assert.rejects(failing, new ImageError('sh ended with status 4: two. Try again.'));
  assert.deepEqual((logged[0] as { lastLines: string[] }).lastLines.sort(), ['one', 'two']);
});

test('a tool that is not installed is told with the package to install', async () => {
  const missing = run(
    { ...tool, argv: ['mmdebstrap'], env: { PATH: '/nowhere:/usr/bin/none' } },
    { log: silent, signal: never },
  );
  await assert.rejects(missing, (error: Error) => error instanceof ImageError && error.message.includes('Install'));
});

test('output, input and environment are handed over', async () => {
  const argv = ['sh', '-c', 'cat; echo "$A-$HOME"'] as const;
  const output = await run(
    { ...tool, argv, stdin: 'in\n', env: { A: '1', HOME: undefined } },
    { log: silent, signal: never },
  );
  assert.equal(output, 'in\n1-\n');
});

test('a tool ends with its whole group when the build is aborted or takes too long', async () => {
  const file = join(folder, 'pid');
  const argv = ['sh', '-c', `sleep 60 & echo $! > ${file}; wait`] as const;
  const stop = new AbortController();
  const running = run({ ...tool, argv }, { log: silent, signal: stop.signal });
  while (!existsSync(file) || readFileSync(file, 'utf8') === '') await sleep(10);
  stop.abort(new Error('stopped'));
  await assert.rejects(running, /stopped/);
  await ended(Number(readFileSync(file, 'utf8')));
  const slow = run({ ...tool, argv: ['sleep', '60'], timeoutMs: 100 }, { log: silent, signal: never });
  await assert.rejects(slow, /took longer than/);
});

test('a tool does not outlive a builder that is killed', async () => {
  const file = join(folder, 'orphan');
  const program = `
    import { run } from ${JSON.stringify(join(import.meta.dirname, 'run.ts'))};
    await run({ argv: ['sh', '-c', 'echo $$ > ${file}; exec sleep 60'], timeoutMs: 60000, advice: '' }, { log: null, signal: new AbortController().signal });
  `;
  const builder = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: 'inherit' });
  while (!existsSync(file) || readFileSync(file, 'utf8') === '') await sleep(10);
  builder.kill('SIGKILL');
  await once(builder, 'exit');
  await ended(Number(readFileSync(file, 'utf8')));
});
