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

test('a tool gets what it needs of the environment, and no secret of the service', async () => {
  const given = {
    LODGE_MASTER_KEY: 'secret-1',
    LODGE_MASTER_KEY_COMMAND: 'secret-2',
    LODGE_PROVIDERS: 'secret-3',
    DATABASE_URL: 'secret-4',
    AWS_SECRET_ACCESS_KEY: 'secret-5',
    PGPASSWORD: 'secret-6',
    NODE_OPTIONS: '--no-deprecation',
    npm_config_registry: 'https://registry.example.com/',
    https_proxy: 'http://proxy.example.com:3128',
    HTTPS_PROXY: 'http://proxy.example.com:3128',
    NODE_EXTRA_CA_CERTS: '/etc/ssl/more.pem',
    PIP_INDEX_URL: 'https://pypi.example.com/simple',
  };
  const before = { ...process.env };
  Object.assign(process.env, given);
  try {
    const output = await run({ ...tool, argv: ['env'], env: { OWN: '1' } }, { log: silent, signal: never });
    assert.doesNotMatch(output, /secret-|NODE_OPTIONS/);
    const kept = ['npm_config_registry', 'https_proxy', 'HTTPS_PROXY', 'NODE_EXTRA_CA_CERTS', 'PIP_INDEX_URL'];
    for (const name of [...kept, 'PATH', 'OWN', 'LC_ALL']) assert.match(output, new RegExp(`^${name}=`, 'm'));
  } finally {
    for (const name of Object.keys(given)) delete process.env[name];
    Object.assign(process.env, before);
  }
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
