/**
 * An agent of one release under a Lodge of the next, in real VMs: it runs on, is not lost to a newer image that does not run,
 * is moved with its files although the control plane is killed on the way, and comes back from there as it was. The rules,
 * step by step, are in packages/engine/src/lifecycle/upgrade and, for the copies on the host, in packages/vm/conformance.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { guestClientOf } from '@lodge/testkit/guest';
import { openMirror, type Mirror } from '../../packages/runtimes/conformance/mirror.ts';
import { releaseFile } from '@lodge/testkit/bare-runtime';
import { Service } from '@lodge/testkit/service';
import { holdings } from './holdings.ts';

const file = '/workspace/notes/plan.txt';
const inMemory = '/dev/shm/thought';
const minuteMs = 60_000;
let mirror: Mirror;
let service: Service;
let id: string;

before(
  async () => {
    mirror = await openMirror('a-plum');
    const entry = new URL('./lodge-with-bare-guests.ts', import.meta.url);
    service = await Service.start({ entry, env: mirror.env });
    await service.awaitTemplate(10 * minuteMs);
    const lifecycle = { idle_timeout_seconds: 0 };
    const asked = { name: 'Older', size: 'small', lifecycle, packages: { apt: ['plum-deb'] } };
    const { status, body } = await service.call('POST', '/agents', asked);
    assert.equal(status, 201, JSON.stringify(body));
    id = body.id as string;
    await installed();
    const there = await guest();
    await there.writeFile(file, 'water the plum tree', { mode: 0o640, owner: 'agent' });
    await there.writeFile(inMemory, 'half', { mode: 0o644, owner: 'root' });
  },
  { timeout: 12 * minuteMs },
);
after(async () => {
  await service?.destroy();
  await mirror?.close();
});

const guest = () => guestClientOf(service.dataDir, id);
const read = async (path: string): Promise<string> => Buffer.from(await (await guest()).readFile(path)).toString();
const agent = async () => (await service.call('GET', `/agents/${id}`)).body;
const copies = async (): Promise<string[]> => readdir(join(service.dataDir, 'vms'));

async function release(version: string, sick: boolean): Promise<void> {
  await service.end('SIGTERM');
  service.env['BARE_RELEASE'] = version;
  if (sick) service.env['BARE_SICK'] = 'yes';
  else delete service.env['BARE_SICK'];
  service.output = '';
  await service.up();
  await service.awaitTemplate(10 * minuteMs);
}

test('a newer image that never becomes healthy is given up by itself, with memory and files as they were', async () => {
  await release('2', true);
  const before = await agent();
  assert.deepEqual([before.status, before.upgrade_available, before.runtime.version], ['running', true, '1']);
  const reply = await service.call('POST', `/agents/${id}/upgrade`);
  if (reply.status === 202) await settled();
  else assert.equal(reply.status, 500, JSON.stringify(reply.body));
  const after = await agent();
  assert.deepEqual([after.status, after.status_reason?.code], ['running', 'upgrade_failed'], JSON.stringify(after));
  assert.deepEqual([after.upgrade_available, after.runtime.version], [true, '1']);
  assert.deepEqual([await read(inMemory), await read(file)], ['half', 'water the plum tree']);
  assert.equal(await read(releaseFile), '1');
  assert.deepEqual(await copies(), [id]);
  const logs = await service.call('GET', `/agents/${id}/logs?source=system&level=warn`);
  assert.match(JSON.stringify(logs.body.data), /not upgraded/);
});

test('an agent is moved to the newer image with its files, the control plane killed on the way', async (t) => {
  await release('2', false);
  const reply = await service.call('POST', `/agents/${id}/upgrade?wait=false`);
  assert.equal(reply.status, 202, JSON.stringify(reply.body));
  const killedAfterMs = randomInt(8_000);
  await sleep(killedAfterMs);
  t.diagnostic(`killed after ${killedAfterMs} ms, in ${(await copies()).join(', ')}`);
  await service.end('SIGKILL');
  await service.up();
  await settled();
  const after = await agent();
  assert.deepEqual([after.status, after.status_reason], ['running', null], JSON.stringify(after));
  assert.deepEqual([after.upgrade_available, after.runtime.version], [false, '2']);
  assert.equal(await read(file), 'water the plum tree');
  await installed();
  assert.equal(await read(releaseFile), '2', 'what belongs to the template is the new one’s');
  const { stdout } = await (await guest()).exec({ argv: ['stat', '-c', '%a %U', file], timeoutMs: 10_000 });
  assert.equal(stdout, '640 agent\n');
  await assert.rejects(read(inMemory), 'it was booted');
  while ((await copies()).length > 1) await sleep(100);
  const held = await holdings(service.dataDir, service.instance);
  assert.deepEqual(held, { emulators: [id], namespaces: 1, links: 1, folders: [id] });
  const again = await service.call('POST', `/agents/${id}/upgrade`);
  assert.deepEqual([again.status, again.body.transition], [200, null], 'there is nothing to do');
});

test('the upgrade is undone: the older image comes back with memory and files as they were', async () => {
  const { body } = await service.call('GET', `/agents/${id}/snapshots`);
  const kept = (body.data as { id: string; kind: string; status: string; runtime: { version: string } }[]).filter(
    ({ kind }) => kind === 'before_upgrade',
  );
  const [snapshot] = kept.filter(({ status }) => status === 'ready');
  assert.equal(snapshot?.runtime.version, '1', JSON.stringify(kept));
  await (await guest()).writeFile(file, 'water the pear tree', { mode: 0o640, owner: 'agent' });
  const reply = await service.call('POST', `/agents/${id}/restore`, { snapshot: snapshot.id });
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  const after = await agent();
  assert.deepEqual([after.status, after.status_reason], ['running', null], JSON.stringify(after));
  assert.deepEqual([after.upgrade_available, after.runtime.version], [true, '1']);
  assert.equal(await read(releaseFile), '1');
  assert.deepEqual([await read(inMemory), await read(file)], ['half', 'water the plum tree']);
});

/** Waits until its package is installed, and runs it. */
async function installed(): Promise<void> {
  for (const deadline = Date.now() + 2 * minuteMs; ; await sleep(200)) {
    const { settings_pending: isPending, packages_error: message } = await agent();
    assert.equal(message, null);
    if (!isPending) break;
    assert.ok(Date.now() < deadline, service.output.slice(-6_000));
  }
  const { stdout } = await (await guest()).exec({ argv: ['plum-deb'], timeoutMs: 10_000 });
  assert.equal(stdout, 'a-plum\n');
}

/** Waits until no operation of the agent is running. */
async function settled(): Promise<void> {
  const deadline = Date.now() + 8 * minuteMs;
  for (;;) {
    const { status, transition } = await agent();
    if (transition === null && status !== 'provisioning') return;
    assert.ok(Date.now() < deadline, service.output.slice(-6_000));
    await sleep(200);
  }
}
