/**
 * kill -9 at random moments, of everything there is to kill. The guarantee: whatever was acknowledged is there and right
 * afterwards, and the host holds nothing that no agent owns.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomFrom } from '@lodge/domain/testing';
import { guestClientOf } from '@lodge/testkit/guest';
import { formOf } from '@lodge/testkit/forms';
import { Service } from '@lodge/testkit/service';
import { databasePid } from './fault-world.ts';
import { emulators, holdings, killEmulator } from './holdings.ts';

const moments = formOf({ short: 4, long: 100 });
/** Kills of emulators, and as many of the database. */
const otherKills = formOf({ short: 1, long: 20 });
const seed = Number(process.env['KILL_SEED'] ?? randomInt(2 ** 31));
/** A seeded sequence, so that a failure can be run again with KILL_SEED. */
const random = randomFrom(seed);

let service: Service;
/** Agents that were acknowledged and whose delete was not asked for, and agents whose delete was acknowledged. */
const alive = new Set<string>();
const gone = new Set<string>();
/** Agents whose delete was cut off: either is right. */
const either = new Set<string>();

before(
  async () => {
    service = await Service.start({ entry: new URL('./lodge-with-bare-guests.ts', import.meta.url) });
    await service.awaitTemplate(10 * 60_000);
  },
  { timeout: 12 * 60_000 },
);
after(() => service?.destroy());

async function create(): Promise<void> {
  const reply = await service
    .call('POST', '/agents', { name: 'Kill me', size: 'small', lifecycle: { idle_timeout_seconds: 0 } })
    .catch(() => null);
  if (reply?.status === 201) alive.add(reply.body.id as string);
}

async function remove(id: string): Promise<void> {
  alive.delete(id);
  either.add(id);
  const reply = await service.call('DELETE', `/agents/${id}`).catch(() => null);
  if (reply?.status === 200 || reply?.status === 404) {
    either.delete(id);
    gone.add(id);
  }
}

/** Two creates and, when there are agents to spare, deletes: all at once. */
function traffic(): Promise<unknown> {
  const victims = [...alive].slice(0, Math.max(0, alive.size - 2));
  return Promise.all([create(), create(), ...victims.map(remove)]);
}

/** Agents whose create was cut off before its reply, but took effect, are agents like any other from here on. */
async function takeInUnannounced(): Promise<void> {
  const { body } = await service.call('GET', '/agents?limit=100');
  for (const { id } of body.data as { id: string }[]) if (!either.has(id)) alive.add(id);
}

/** Waits until nothing is on its way, then holds API, host and expectations against one another. */
async function assertSettledAndRight(): Promise<void> {
  const deadline = Date.now() + 10 * 60_000;
  let last = '';
  do {
    await sleep(300);
    last = await disagreement().catch((error: unknown) => String(error));
  } while (last !== '' && Date.now() < deadline);
  assert.equal(last, '', `seed ${seed}\n${service.output.slice(-8000)}`);
}

async function disagreement(): Promise<string> {
  const { body } = await service.call('GET', '/agents?limit=100');
  const agents = body.data as { id: string; status: string; status_reason: unknown }[];
  const ids = new Set(agents.map((agent) => agent.id));
  for (const agent of agents) {
    if (agent.status === 'provisioning') return `${agent.id} is still provisioning`;
    if (alive.has(agent.id) && agent.status !== 'running')
      return `${agent.id} is ${agent.status}: ${JSON.stringify(agent.status_reason)}`;
  }
  for (const id of alive) if (!ids.has(id)) return `acknowledged ${id} is gone`;
  for (const id of gone) if (ids.has(id)) return `deleted ${id} is there`;
  const running = agents.filter((agent) => agent.status === 'running');
  const held = await holdings(service.dataDir, service.instance);
  const wanted = running.map((agent) => agent.id).sort();
  if (String(held.emulators.sort()) !== String(wanted))
    return `emulators ${String(held.emulators)}, running agents ${String(wanted)}`;
  if (held.namespaces !== running.length) return `${held.namespaces} namespaces for ${running.length} running agents`;
  if (held.links !== running.length) return `${held.links} links for ${running.length} running agents`;
  for (const folder of held.folders) if (!ids.has(folder)) return `folder ${folder} belongs to nobody`;
  for (const { id } of running) {
    await (await guestClientOf(service.dataDir, id)).health();
  }
  return '';
}

test(
  `the control plane is killed at ${moments} random moments`,
  { timeout: formOf({ short: 30, long: 180 }) * 60_000 },
  async () => {
    for (let moment = 0; moment < moments; moment += 1) {
      const requests = traffic();
      await sleep(random(2500));
      await service.end('SIGKILL');
      await requests;
      await service.up();
      await takeInUnannounced();
      if (moment % 4 === 3) await assertSettledAndRight();
    }
    await assertSettledAndRight();
  },
);

test(
  'emulators are killed during creates and beside them',
  { timeout: formOf({ short: 20, long: 60 }) * 60_000 },
  async () => {
    for (let moment = 0; moment < otherKills; moment += 1) {
      const requests = traffic();
      await sleep(random(2000));
      const pids = [...(await emulators(service.dataDir)).values()];
      const pid = pids[random(pids.length)];
      if (pid !== undefined) killEmulator(pid);
      await requests;
    }
    await assertSettledAndRight();
  },
);

test(
  'the database is killed during creates and deletes',
  { timeout: formOf({ short: 20, long: 60 }) * 60_000 },
  async () => {
    for (let moment = 0; moment < otherKills; moment += 1) {
      const requests = traffic();
      await sleep(random(1500));
      process.kill(await databasePid(service.dataDir), 'SIGKILL');
      await requests;
    }
    await assertSettledAndRight();
  },
);

test('when all agents are deleted the host holds nothing of them', { timeout: 20 * 60_000 }, async () => {
  const { body } = await service.call('GET', '/agents?limit=100');
  for (const agent of body.data as { id: string }[]) await remove(agent.id);
  await assertSettledAndRight();
  assert.deepEqual(await holdings(service.dataDir, service.instance), {
    emulators: [],
    namespaces: 0,
    links: 0,
    folders: [],
  });
});
