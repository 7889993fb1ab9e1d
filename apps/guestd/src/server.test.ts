import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Daemon, refusedWith } from './testing.ts';

const daemon = new Daemon();
before(async () => {
  await daemon.prepare();
  await daemon.start();
});
after(() => daemon.remove());

const post = (path: string, body: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${daemon.port}${path}`, { method: 'POST', body });

test('health tells protocol, uptime, vCPUs, memory, disk and what was killed for memory', async () => {
  const health = await daemon.client.awaitHealth({ timeoutMs: 5_000 });
  assert.equal(health.protocol, 1);
  assert.equal(health.cpusOnline, 2);
  assert.ok(health.uptimeSeconds > 0 && health.memoryTotalMib > 100);
  assert.equal(health.oomKills, 3);
  const { memoryAvailableMib, memoryTotalMib, diskFreeMib, diskTotalMib } = health;
  assert.ok(memoryAvailableMib! > 10 && memoryAvailableMib! < memoryTotalMib);
  assert.ok(diskFreeMib! > 10 && diskFreeMib! < diskTotalMib!);
});

test('a peer that is not the host is cut off without an answer', async () => {
  const other = new Daemon();
  try {
    await other.prepare();
    await other.start('127.0.0.2');
    await assert.rejects(other.client.health(), refusedWith(null));
    const socket = createConnection({ host: '127.0.0.1', port: other.port, localAddress: '127.0.0.2' });
    socket.write('GET /v1/health HTTP/1.1\r\nhost: guest\r\n\r\n');
    const [first] = (await once(socket, 'data')) as [Buffer];
    assert.match(first.toString(), /^HTTP\/1\.1 200/);
    socket.destroy();
  } finally {
    await other.remove();
  }
});

test('every reply names the protocol; unknown routes and bad bodies are refused', async () => {
  const missing = await fetch(`http://127.0.0.1:${daemon.port}/v2/health`);
  assert.equal(missing.status, 404);
  assert.equal(missing.headers.get('x-guestd-protocol'), '1');
  assert.deepEqual(await missing.json(), { error: 'no such route' });
  const cases: [path: string, body: string, message: RegExp][] = [
    ['/v1/exec', '{', /must be JSON/],
    ['/v1/exec', '[]', /JSON object/],
    ['/v1/exec', '{"argv":[],"timeoutMs":1}', /argv/],
    ['/v1/exec', '{"argv":["true","a\\u0000b"],"timeoutMs":1}', /argv/],
    ['/v1/exec', '{"argv":["true"]}', /timeoutMs/],
    ['/v1/exec', '{"argv":["true"],"timeoutMs":600001}', /timeoutMs/],
    ['/v1/exec', '{"argv":["true"],"timeoutMs":1,"user":"bin"}', /user/],
    ['/v1/exec', '{"argv":["true"],"timeoutMs":1,"env":{"A":1}}', /env/],
    ['/v1/cpus', '{"online":0}', /online/],
    ['/v1/clock', '{"unixMs":1,"entropy":"AAAA"}', /entropy/],
    ['/v1/sync', '{}', /dropCaches/],
    ['/v1/runtime', '{"run":false}', /graceMs/],
    ['/v1/runtime', '{"run":"no","graceMs":1}', /run/],
    ['/v1/runtime', '{"run":false,"graceMs":60001}', /graceMs/],
  ];
  for (const [path, body, message] of cases) {
    const reply = await post(path, body);
    assert.equal(reply.status, 400, body);
    assert.match(((await reply.json()) as { error: string }).error, message);
  }
});

test('vCPUs are brought up and taken down until as many are online as asked for', async () => {
  const online = (cpu: number): string =>
    readFileSync(join(daemon.root, `sys/devices/system/cpu/cpu${cpu}/online`), 'utf8');
  await daemon.client.setCpusOnline(3);
  assert.deepEqual([online(1), online(2)], ['1', '1']);
  await daemon.client.setCpusOnline(1);
  assert.deepEqual([online(1), online(2)], ['0', '0']);
  assert.equal((await daemon.client.health()).cpusOnline, 1);
  const waiting = daemon.client.setCpusOnline(4);
  await sleep(100);
  const plugged = join(daemon.root, 'sys/devices/system/cpu/cpu3');
  mkdirSync(plugged);
  await sleep(100);
  assert.deepEqual([online(1), online(2)], ['1', '1']);
  writeFileSync(`${plugged}/plugged`, '0');
  renameSync(`${plugged}/plugged`, `${plugged}/online`);
  await waiting;
  assert.equal(online(3), '1');
});

test('the log is served in whole lines and goes on where the reader was', async () => {
  const { client } = daemon;
  const first = await client.logs('guestd', 0, 100_000);
  assert.match(first.text, /listening on port/);
  assert.ok(first.text.endsWith('\n'));
  const end = await client.logs('guestd', first.nextOffset, 100_000);
  assert.deepEqual(end, { text: '', nextOffset: first.nextOffset });
  await assert.rejects(client.logs('other' as 'guestd', 0, 1), refusedWith(400));
});
