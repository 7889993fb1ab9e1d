import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { maxExecOutputBytes, type ExecOutcome } from '@lodge/guest';
import { Daemon, isAlive, refusedWith, until } from './testing.ts';

const daemon = new Daemon();
before(async () => {
  await daemon.prepare();
  await daemon.start();
});
after(() => daemon.remove());

test('exec gives back output, exit code and signal', async () => {
  const { client } = daemon;
  const script = 'cat; pwd; echo "$A $HOME"; echo err >&2; exit 3';
  const result = await client.exec({ argv: ['sh', '-c', script], stdin: 'in\n', env: { A: 'b' }, timeoutMs: 5_000 });
  assert.deepEqual(result, {
    exitCode: 3,
    signal: null,
    stdout: `in\n${daemon.root}/workspace\nb /home/agent\n`,
    stderr: 'err\n',
    timedOut: false,
    truncated: false,
  });
  const killed = await client.exec({ argv: ['sh', '-c', 'kill -TERM $$'], timeoutMs: 5_000 });
  assert.deepEqual([killed.exitCode, killed.signal], [null, 'SIGTERM']);
  await assert.rejects(client.exec({ argv: ['no-such'], timeoutMs: 5_000 }), refusedWith(400, /ENOENT/));
  await assert.rejects(client.exec({ argv: ['true'], cwd: '/no-such', timeoutMs: 5_000 }), refusedWith(400));
});

test(
  'a command of root ends at its limit and with its caller, and tells no more than it may',
  { skip: process.getuid?.() !== 0 },
  async () => {
    const { client } = daemon;
    const root = { user: 'root', timeoutMs: 5_000 } as const;
    const { stdout } = await client.exec({ ...root, argv: ['sh', '-c', 'echo "$HOME $PATH"'] });
    assert.match(stdout, /^\/root \/root\/\.local\/bin:/);
    const late = await client.exec({ ...root, argv: ['sh', '-c', 'sleep 60 & echo $!; sleep 60'], timeoutMs: 300 });
    assert.deepEqual([late.timedOut, late.signal], [true, 'SIGKILL']);
    await until(() => !isAlive(Number(late.stdout)));
    const much = await client.exec({ ...root, argv: ['head', '-c', '2000', '/dev/zero'], maxOutputBytes: 10 });
    assert.deepEqual([much.stdout.length, much.truncated], [10, true]);
  },
);

test('exec keeps only as much output as it may', async () => {
  const argv = ['sh', '-c', 'head -c 300000 /dev/zero | tr "\\0" x; echo small >&2'];
  const result = await daemon.client.exec({ argv, timeoutMs: 5_000, maxOutputBytes: 1000 });
  assert.equal(result.stdout, 'x'.repeat(1000));
  assert.equal(result.stderr, 'small\n');
  assert.equal(result.truncated, true);
  const control = await daemon.client.exec({
    argv: ['head', '-c', '2000000', '/dev/zero'],
    timeoutMs: 5_000,
    maxOutputBytes: maxExecOutputBytes,
  });
  assert.equal(control.stdout.length, 2_000_000);
});

test('at the time limit the whole process group is killed', async () => {
  const started = Date.now();
  const result = await daemon.client.exec({ argv: ['sh', '-c', 'sleep 60 & echo $!; sleep 60'], timeoutMs: 300 });
  assert.ok(Date.now() - started < 50_000);
  assert.deepEqual([result.timedOut, result.signal], [true, 'SIGKILL']);
  await until(() => !isAlive(Number(result.stdout)));
});

test('what a command leaves in its group ends with it', async () => {
  const result = await daemon.client.exec({ argv: ['sh', '-c', 'sleep 60 & echo $!'], timeoutMs: 5_000 });
  assert.equal(result.exitCode, 0);
  await until(() => !isAlive(Number(result.stdout)));
});

test('a command is killed when its caller goes away', async () => {
  const stop = new AbortController();
  const file = join(daemon.root, 'workspace/pid');
  const running = daemon.client.exec(
    { argv: ['sh', '-c', `echo $$ > ${file}; sleep 60`], timeoutMs: 60_000 },
    { signal: stop.signal },
  );
  const pid = await until(() => existsSync(file) && Number(readFileSync(file, 'utf8')));
  assert.ok(isAlive(pid));
  stop.abort(new Error('enough'));
  await assert.rejects(running, /enough/);
  await until(() => !isAlive(pid));
});

test('a daemon that fails takes its commands along, and leaves alone what had left them', async () => {
  const own = new Daemon();
  try {
    await own.prepare();
    await own.start();
    const script =
      'echo $$ > leader; sleep 60 & echo $! > child; setsid sh -c "echo \\$\\$ > detached; exec sleep 60" & wait';
    const lost = own.client.exec({ argv: ['sh', '-c', script], timeoutMs: 60_000 });
    const assertion = assert.rejects(lost, refusedWith(null));
    const pidIn = (name: string): Promise<number> => {
      const file = join(own.root, 'workspace', name);
      return until(() => existsSync(file) && Number(readFileSync(file, 'utf8')));
    };
    const [leader, child, detached] = [await pidIn('leader'), await pidIn('child'), await pidIn('detached')];
    const records = join(own.root, 'run/lodge/commands');
    // The command runs before the daemon has written that it does.
    await until(() => readdirSync(records).length > 0);
    await own.kill();
    await assertion;
    assert.ok(isAlive(leader) && isAlive(child) && isAlive(detached));
    await own.start();
    await until(() => !isAlive(leader) && !isAlive(child));
    assert.ok(isAlive(detached));
    process.kill(detached, 'SIGKILL');
    assert.deepEqual(readdirSync(records), []);
  } finally {
    await own.remove();
  }
});

async function read(argv: readonly string[], more: { maxOutputBytes?: number; timeoutMs?: number } = {}) {
  const { signal } = new AbortController();
  const seen = { stdout: '', stderr: '', at: [] as number[], outcome: null as ExecOutcome | null };
  const started = performance.now();
  for await (const event of await daemon.client.execStream({ argv, timeoutMs: 10_000, ...more }, { signal })) {
    if (event.kind === 'exit') seen.outcome = event.outcome;
    else seen[event.kind] += String(event.bytes);
    seen.at.push(performance.now() - started);
  }
  return seen;
}

test('what a command writes is told as it comes, and its end last', async () => {
  const seen = await read(['sh', '-c', 'echo one; sleep 0.6; echo two >&2; sleep 0.6; exit 4']);
  assert.deepEqual([seen.stdout, seen.stderr], ['one\n', 'two\n']);
  assert.deepEqual(seen.outcome, { exitCode: 4, signal: null, timedOut: false, truncated: false });
  assert.ok(seen.at[1]! - seen.at[0]! > 300 && seen.at[2]! - seen.at[1]! > 300, seen.at.join());
  const long = await read(['sh', '-c', 'head -c 3000000 /dev/zero | tr "\\0" x'], { maxOutputBytes: 2_000_000 });
  assert.deepEqual([long.stdout.length, long.outcome?.truncated], [2_000_000, true]);
  assert.equal((await read(['sleep', '60'], { timeoutMs: 200 })).outcome?.timedOut, true);
  await assert.rejects(read(['no-such']), refusedWith(400, /ENOENT/));
});

test('a command whose output nobody takes waits, and is killed when the reader goes', async () => {
  const stop = new AbortController();
  const file = join(daemon.root, 'workspace/streaming');
  const script = `echo $$ > ${file}; exec cat /dev/zero`;
  const request = { argv: ['sh', '-c', script], timeoutMs: 60_000, maxOutputBytes: maxExecOutputBytes };
  const events = await daemon.client.execStream(request, { signal: stop.signal });
  await events.next();
  const pid = await until(() => existsSync(file) && Number(readFileSync(file, 'utf8')));
  // The kernel's buffers on the way take some megabytes.
  const written = (): string => /^wchar: \d+$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))![0];
  for (let before = ''; before !== written(); await sleep(300)) before = written();
  assert.ok(Number(written().slice(7)) < maxExecOutputBytes, written());
  stop.abort(new Error('enough'));
  await until(() => !isAlive(pid));
  await assert.rejects(async () => {
    for await (const _ of events);
  });
});

test('a call that takes too long is given up', async () => {
  await assert.rejects(
    daemon.client.exec({ argv: ['sleep', '60'], timeoutMs: 60_000 }, { timeoutMs: 200 }),
    refusedWith(null, /within 200 ms/),
  );
});

test('more commands at once than the bound are refused, and the others are not hurt', async () => {
  // All of them run until the last one was begun or refused.
  const go = join(daemon.root, 'workspace', 'go');
  const argv = ['sh', '-c', `until [ -e ${go} ]; do sleep 0.1; done`];
  let refusals = 0;
  const runs = Array.from({ length: 20 }, () => daemon.client.exec({ argv, timeoutMs: 60_000 }));
  for (const run of runs) run.catch(() => (refusals += 1));
  await until(() => refusals >= 4);
  writeFileSync(go, '');
  const results = await Promise.allSettled(runs);
  const refused = results.filter((result) => result.status === 'rejected');
  assert.ok(refused.length >= 4 && refused.length < 8, `${refused.length} were refused`);
  for (const { reason } of refused) refusedWith(503)(reason);
});

test(
  'exec runs as the unprivileged agent unless it is told otherwise',
  { skip: process.getuid?.() !== 0 && 'needs root to become another user' },
  async () => {
    const id = async (user?: 'root'): Promise<string> =>
      (
        await daemon.client.exec({
          argv: ['sh', '-c', 'id -u; id -g; id -G'],
          timeoutMs: 5_000,
          ...(user && { user, cwd: '/' }),
        })
      ).stdout;
    assert.equal(await id(), '1000\n1000\n1000\n');
    assert.match(await id('root'), /^0\n0\n/);
  },
);
