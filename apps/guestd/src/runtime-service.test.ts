import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Daemon, isAlive, until } from './testing.ts';

test('a runtime starts with its configuration, is started again when it ends, and survives the daemon', async () => {
  const own = new Daemon();
  try {
    await own.prepare();
    const config = join(own.root, 'workspace/config');
    const script = 'echo "start $$ $GREETING"; while [ ! -e stop ]; do sleep 0.05; done; rm stop; echo bye >&2; exit 7';
    const service = {
      argv: ['sh', '-c', script],
      cwd: join(own.root, 'workspace'),
      env: { GREETING: 'hello' },
      startWhenExists: config,
    };
    writeFileSync(join(own.root, 'etc/lodge/runtime.json'), JSON.stringify(service));
    await own.start();
    const output = async (): Promise<string> => (await own.client.logs('runtime', 0, 100_000)).text;
    await sleep(400);
    assert.equal(await output(), '', 'nothing runs before the configuration is there');

    await own.client.writeFile(config, '{}', { mode: 0o600, owner: 'agent' });
    const starts = (): number[] =>
      [...readFileSync(join(own.root, 'var/log/lodge/runtime/current'), 'utf8').matchAll(/^start (\d+) hello$/gm)].map(
        (m) => Number(m[1]),
      );
    const [first = 0] = await until(() => starts().length === 1 && starts());
    const stop = join(own.root, 'workspace/stop');
    writeFileSync(stop, '');
    const [, second = 0] = await until(() => starts().length === 2 && starts());
    assert.ok(!isAlive(first) && isAlive(second));
    assert.match(await output(), /bye/);
    assert.match(own.log(), /runtime ended with status 7/);

    await own.kill();
    assert.ok(isAlive(second), 'the runtime outlives the daemon');
    await own.start();
    await until(() => own.log().includes(`runtime found running as process ${second}`));
    assert.equal(starts().length, 2, 'no second runtime is started beside it');
    writeFileSync(stop, '');
    await until(() => starts().length === 3);
  } finally {
    await own.remove();
  }
});

test('the host ends a runtime, by force when it does not listen, and it stays ended until the host starts it', async () => {
  const own = new Daemon();
  try {
    await own.prepare();
    const script = 'echo "start $$"; trap "test -e stubborn || exit 0" TERM; while :; do sleep 0.05; done';
    const service = { argv: ['sh', '-c', script], cwd: join(own.root, 'workspace'), env: {} };
    writeFileSync(join(own.root, 'etc/lodge/runtime.json'), JSON.stringify(service));
    await own.start();
    const log = join(own.root, 'var/log/lodge/runtime/current');
    const starts = (): number[] => [...readFileSync(log, 'utf8').matchAll(/^start (\d+)$/gm)].map((m) => Number(m[1]));
    const started = (count: number): Promise<number> => until(() => starts().length === count && starts().at(-1));

    const first = await started(1);
    await own.client.stopRuntime(10_000);
    assert.ok(!isAlive(first));
    await own.client.stopRuntime(10_000);

    await own.kill();
    await own.start();
    await sleep(1_500);
    assert.equal(starts().length, 1, 'a new daemon does not start what the host has ended');

    await own.client.startRuntime();
    const second = await started(2);
    writeFileSync(join(own.root, 'workspace/stubborn'), '');
    await own.kill();
    await own.start();
    await until(() => own.log().includes(`runtime found running as process ${second}`));
    const asked = performance.now();
    await own.client.stopRuntime(300);
    assert.ok(!isAlive(second) && performance.now() - asked >= 300);
  } finally {
    await own.remove();
  }
});
