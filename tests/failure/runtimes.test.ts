/**
 * Versions of a runtime side by side, in real VMs: one that has passed is offered while the control plane runs, to upgrades
 * alone where new agents are held; agents go over by `upgrade`; one that failed reaches nobody.
 */
import assert from 'node:assert/strict';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createImageBuilder, InstalledVersions } from '@lodge/images';
import type { Offer } from '@lodge/images';
import { createBareRuntime } from '@lodge/testkit/bare-runtime';
import { guestClientOf } from '@lodge/testkit/guest';
import { Service } from '@lodge/testkit/service';

const minuteMs = 60_000;
const waitMs = 15 * minuteMs;
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const { name: runtime, templateVariant: variant } = createBareRuntime();
const file = '/workspace/notes.txt';
let service: Service;
let installed: InstalledVersions;
let old: string;

before(
  async () => {
    service = await Service.start({ entry: new URL('./lodge-with-bare-guests.ts', import.meta.url) });
    installed = new InstalledVersions(join(service.dataDir, 'runtimes'));
    await service.awaitTemplate(waitMs);
    old = await create('Old');
  },
  { timeout: waitMs + 5 * minuteMs },
);
after(() => service?.destroy());

/** Writes the recipe of bare guests with one other file, as `runtimes update` leaves it, and the verdict of its tests. */
async function install(version: string, passed: boolean): Promise<void> {
  const recipe = installed.recipeOf(runtime, version);
  await cp(new URL('../../images/base', import.meta.url), recipe, { recursive: true });
  await writeFile(join(recipe, 'files/etc/lodge-version'), `${version}\n`);
  const cacheDir = service.env['LODGE_CACHE_DIR'] ?? '/var/cache/lodge';
  const image = await createImageBuilder({ cacheDir, versionsDir: installed.folder, log: silent }).idOf(
    `${runtime}@${version}`,
  );
  const failure = passed ? null : ({ step: 'conformance', case: 'an answer streams', reason: 'nothing came' } as const);
  await installed.writeVerdict(runtime, version, { image, variant, passed, failure, at: new Date().toISOString() });
}

const offer = (offered: Offer): Promise<void> => installed.writeOffer(runtime, offered);
const agent = async (id: string) => (await service.call('GET', `/agents/${id}`)).body;
const versionIn = async (id: string): Promise<string> => {
  const guest = await guestClientOf(service.dataDir, id);
  return Buffer.from(await guest.readFile('/etc/lodge-version'))
    .toString()
    .trim();
};

async function create(name: string): Promise<string> {
  const { status, body } = await service.call('POST', '/agents', { name, lifecycle: { idle_timeout_seconds: 0 } });
  assert.equal(status, 201, JSON.stringify(body));
  return body.id as string;
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + waitMs;
  while (!(await isSo())) {
    assert.ok(Date.now() < deadline, `${what}\n${service.output.slice(-6_000)}`);
    await sleep(500);
  }
}

const canUpgrade = async (id: string): Promise<boolean> => (await agent(id)).upgrade_available;

test('a version that failed is given to nobody, though it was offered', async () => {
  await install('2', false);
  await offer({ fresh: '2', upgrade: '2' });
  // Lodge looks every 10 s, and each look finds the verdict.
  await sleep(25_000);
  assert.deepEqual([await canUpgrade(old), (await agent(old)).runtime.version], [false, '1']);
  const other = await create('Other');
  assert.equal((await agent(other)).runtime.version, '1');
  await service.call('DELETE', `/agents/${other}`);
});

test('one that has passed is offered at once to upgrades, and new agents are held', async () => {
  await install('3', true);
  await offer({ fresh: null, upgrade: '3' });
  await until('the agent can be upgraded', () => canUpgrade(old));
  const held = await create('Held');
  assert.deepEqual([(await agent(held)).runtime.version, await canUpgrade(held)], ['1', true]);
  await service.call('DELETE', `/agents/${held}`);
});

test('an agent goes over by upgrade, with its files, and a restart of the control plane changes nothing', async () => {
  await (await guestClientOf(service.dataDir, old)).writeFile(file, 'water the plum', { mode: 0o640, owner: 'agent' });
  await service.end('SIGKILL');
  service.output = '';
  await service.up();
  await service.awaitTemplate(waitMs);
  await until('the agent can be upgraded again', () => canUpgrade(old));
  const reply = await service.call('POST', `/agents/${old}/upgrade?wait=false`);
  assert.equal(reply.status, 202, JSON.stringify(reply.body));
  await until('it is upgraded', async () => (await agent(old)).transition === null);
  const { status, status_reason: reason, runtime: has, upgrade_available: more } = await agent(old);
  assert.deepEqual([status, reason, has.version, more], ['running', null, '3', false]);
  assert.equal(await versionIn(old), '3');
  assert.equal(
    Buffer.from(await (await guestClientOf(service.dataDir, old)).readFile(file)).toString(),
    'water the plum',
  );
});

test('new agents get it when they are held no more', async () => {
  await offer({ fresh: '3', upgrade: '3' });
  await until('new agents have it', async () => {
    const id = await create('New');
    const { version } = (await agent(id)).runtime;
    const inGuest = version === '3' ? await versionIn(id) : null;
    await service.call('DELETE', `/agents/${id}`);
    return inGuest === '3';
  });
});

test('back on what Lodge brings, the agent of the installed version runs on, and is one that can be upgraded', async () => {
  await offer({ fresh: null, upgrade: null });
  await until('there is another for it', () => canUpgrade(old));
  await installed.remove(runtime, '3');
  const reply = await service.call('POST', `/agents/${old}/restart`);
  assert.ok(reply.status < 300, JSON.stringify(reply.body));
  await until('it is back', async () => (await agent(old)).transition === null);
  assert.deepEqual([(await agent(old)).status, await versionIn(old)], ['running', '3']);
});
