/**
 * Egress rules on a real database and the fake host: the record's rules hold on the machine's network, whatever was killed
 * or failed on the way.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { publicEgress } from '@lodge/domain';
import type { EgressRules, Verb } from '@lodge/domain';
import type { AgentRow } from '@lodge/store/agents';
import type { Database } from '@lodge/store/database';
import { failAt, FakeHost, hangAt } from '@lodge/vm/fake';
import { never, running, startPlane, until, World } from '../../../../testkit/src/plane/plane.ts';
import type { Plane } from '../../../../testkit/src/plane/plane.ts';
import { logPage } from '@lodge/store/logs';

let world: World;
before(async () => {
  world = await World.open();
});
after(() => world.close());

const none: EgressRules = { mode: 'none', allow: [] };
const some: EgressRules = { mode: 'allowlist', allow: ['*.example.com', '9.9.9.0/24'] };

const find = async (id: string): Promise<AgentRow> => (await world.store.agents.find(id))!;
const rulesOf = (host: FakeHost, id: string): EgressRules | undefined => host.vms.get(id)?.egress;
const inEffect = (plane: Plane, id: string, timeoutMs = 120_000): Promise<AgentRow> =>
  plane.agents.awaitInEffect(world.accountId, id, timeoutMs, never);

async function change(plane: Plane, id: string, egress: EgressRules): Promise<AgentRow> {
  await plane.agents.update(world.accountId, id, { egress });
  return inEffect(plane, id);
}

async function done(plane: Plane, id: string, verb: Verb): Promise<AgentRow> {
  await plane.agents.act(world.accountId, id, verb);
  return plane.agents.awaitVerb(world.accountId, id, verb, 120_000, never);
}

async function said(id: string): Promise<string[]> {
  const lines = await world.store.database.repeatable((db) =>
    logPage(db, { agentId: id, limit: 50, direction: 'asc', search: 'egress rules' }),
  );
  return lines.map(({ message }) => message);
}

/** Records the rules that each of an agent's machines had at its first step. */
function watchStarts(host: FakeHost): EgressRules[] {
  const seen: EgressRules[] = [];
  host.behaviour = async (step, { agentId }) => {
    if (step === 'start') seen.push(rulesOf(host, agentId)!);
  };
  return seen;
}

test('every machine of an agent has its rules before its first instruction', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host, { release: 'old' });
  const starts = watchStarts(host);
  const { id } = await running(world, plane, { egress: some });
  for (const verb of ['stop', 'start', 'restart'] as const) await done(plane, id, verb);
  plane.kill();
  const next = await startPlane(world, host, { release: 'new' });
  await until('the newer template is there', async () => next.agents.canUpgrade(await find(id)));
  await done(next, id, 'upgrade');
  assert.deepEqual(starts, [some, some, some, some, some], 'clone, snapshot, boot; clone and boot of the upgrade');
  assert.deepEqual([rulesOf(host, id), next.agents.inEffect(await find(id)), await said(id)], [some, true, []]);
  await next.end();
});

test('a change is on the network of a running machine, and says so once; nothing goes into the guest for it', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id, settingsApplied } = await running(world, plane);
  let times = 0;
  host.behaviour = async (step) => void (times += Number(step === 'restrict'));
  for (const rules of [none, some, publicEgress]) {
    const row = await change(plane, id, rules);
    assert.deepEqual(
      [rulesOf(host, id), plane.agents.inEffect(row), row.settingsApplied],
      [rules, true, settingsApplied],
    );
  }
  await change(plane, id, publicEgress);
  await plane.agents.update(world.accountId, id, { name: 'B', models: ['p/m'] });
  await sleep(200);
  assert.equal(times, 3);
  assert.ok(!plane.calls.includes('apply'));
  assert.deepEqual(await said(id), [
    'Changed egress rules are in effect: nothing but the model broker can be reached.',
    'Changed egress rules are in effect: what the allow list names can be reached (2 entries).',
    'Changed egress rules are in effect: every public address can be reached.',
  ]);
  await plane.end();
});

test('a frozen machine takes a change as it is, a stopped agent with its next start', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await running(world, plane);
  await done(plane, id, 'pause');
  const paused = await change(plane, id, none);
  assert.deepEqual([rulesOf(host, id), paused.status, host.vms.get(id)?.paused], [none, 'paused', true]);
  await done(plane, id, 'stop');
  const stopped = await change(plane, id, some);
  assert.deepEqual([stopped.status, plane.agents.inEffect(stopped)], ['stopped', false]);
  const starts = watchStarts(host);
  const started = await done(plane, id, 'start');
  assert.deepEqual([starts, plane.agents.inEffect(started)], [[some], true]);
  await plane.end();
});

test('rules that cannot be put on say so once, and are tried until they are', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await running(world, plane);
  host.behaviour = failAt('restrict', 'failed', 2);
  const row = await change(plane, id, none);
  assert.deepEqual([rulesOf(host, id), row.status], [none, 'running']);
  assert.deepEqual(await said(id), [
    'Changed egress rules are not in effect on the machine yet; it is tried again.',
    'Changed egress rules are in effect: nothing but the model broker can be reached.',
  ]);
  await plane.end();
});

test('killed before the network has them: the next process puts them on', async () => {
  const host = new FakeHost();
  const first = await startPlane(world, host);
  const { id } = await running(world, first);
  host.behaviour = hangAt('restrict');
  await first.agents.update(world.accountId, id, { egress: none });
  first.kill();
  host.behaviour = () => Promise.resolve();
  const second = await startPlane(world, host);
  const row = await inEffect(second, id);
  assert.deepEqual([rulesOf(host, id), second.agents.inEffect(row)], [none, true]);
  await second.end();
});

test('killed after the network has them and before the row says so: the next process says so', async () => {
  const host = new FakeHost();
  const { database: whole } = world.store;
  const cut = new Error('killed');
  let killed = '';
  /** Its process ends with the write that says which rules are in effect. */
  const database: Database = {
    ...whole,
    transaction: (work) =>
      whole
        .transaction(async (trx) => {
          const written = await work(trx);
          const said = await trx
            .selectFrom('events')
            .select('id')
            .where('type', '=', 'agent.egress_applied')
            .where('agentId', '=', killed)
            .execute();
          if (said.length > 0) throw cut;
          return written;
        })
        .catch((error: unknown) => (error === cut ? new Promise<never>(() => undefined) : Promise.reject(error))),
  };
  const first = await startPlane(world, host, { database });
  const { id } = await running(world, first);
  killed = id;
  await first.agents.update(world.accountId, id, { egress: none });
  await until('the network has them', () => rulesOf(host, id)?.mode === 'none');
  assert.equal(first.agents.inEffect(await find(id)), false);
  first.kill();
  const second = await startPlane(world, host);
  const row = await inEffect(second, id);
  assert.deepEqual([rulesOf(host, id), second.agents.inEffect(row), (await said(id)).length], [none, true, 1]);
  await second.end();
});

test('each process puts them on once, whatever an earlier one left, and says nothing of it', async () => {
  const host = new FakeHost();
  const first = await startPlane(world, host);
  const ids = [(await running(world, first, { egress: some })).id, (await running(world, first, { egress: none })).id];
  await done(first, ids[1]!, 'pause');
  first.kill();
  for (const id of ids) host.vms.get(id)!.egress = publicEgress;
  let times = 0;
  host.behaviour = async (step) => void (times += Number(step === 'restrict'));
  const second = await startPlane(world, host);
  await until('both have theirs', () => ids.every((id) => rulesOf(host, id) !== publicEgress));
  assert.deepEqual(
    ids.map((id) => rulesOf(host, id)),
    [some, none],
  );
  await second.agents.update(world.accountId, ids[0]!, { name: 'look again' });
  await sleep(200);
  assert.deepEqual([times, await said(ids[0]!), await said(ids[1]!)], [2, [], []]);
  await second.end();
});

test('a frozen machine goes on under the rules of now, though they changed with nobody there', async () => {
  const host = new FakeHost();
  const first = await startPlane(world, host);
  const { id } = await running(world, first);
  await done(first, id, 'pause');
  first.kill();
  await world.store.agents.change(world.accountId, id, () => ({ egress: none }));
  await world.store.agents.begin(id, 'request', () => ({ do: 'begin', kind: 'resume' }));
  const resumed: (EgressRules | undefined)[] = [];
  host.behaviour = async (step, { agentId }) => {
    if (step === 'resume') resumed.push(rulesOf(host, agentId));
  };
  const second = await startPlane(world, host);
  const row = await second.agents.awaitVerb(world.accountId, id, 'resume', 120_000, never);
  assert.deepEqual([row.status, resumed, second.agents.inEffect(row)], ['running', [none], true]);
  await second.end();
});

test('a start that a kill cut short goes on under the rules of now', async () => {
  const host = new FakeHost();
  const first = await startPlane(world, host);
  const { id } = await running(world, first);
  await done(first, id, 'stop');
  first.troubles.settings = 'unheard';
  await first.agents.update(world.accountId, id, { instructions: 'Be brief.' });
  await first.agents.act(world.accountId, id, 'start');
  await until('its machine runs', () => first.calls.includes('apply'));
  first.kill();
  const { executionId } = host.vms.get(id)!;
  await world.store.agents.change(world.accountId, id, () => ({ egress: none }));
  const second = await startPlane(world, host);
  const row = await second.agents.awaitVerb(world.accountId, id, 'start', 120_000, never);
  assert.deepEqual([row.status, row.executionId, rulesOf(host, id)], ['running', executionId, none]);
  assert.equal(second.agents.inEffect(row), true);
  await second.end();
});

test('a change back while the change before is under way is not in effect before the network says so', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await running(world, plane, { egress: none });
  const gate = Promise.withResolvers<void>();
  let reached = false;
  host.behaviour = async (step) => {
    if (step !== 'restrict') return;
    reached = true;
    await gate.promise;
  };
  await plane.agents.update(world.accountId, id, { egress: publicEgress });
  await until('the change is under way', () => reached);
  await plane.agents.update(world.accountId, id, { egress: none });
  assert.equal(plane.agents.inEffect(await inEffect(plane, id, 200)), false);
  gate.resolve();
  const row = await inEffect(plane, id);
  assert.deepEqual([rulesOf(host, id), plane.agents.inEffect(row)], [none, true]);
  await plane.end();
});

test('of two servers the one whose host has the machine puts them on, whoever was asked', async () => {
  const hosts = [new FakeHost(), new FakeHost()] as const;
  const [one, other] = await Promise.all(hosts.map((host) => startPlane(world, host)));
  const { id } = await running(world, one!);
  const holder = hosts.find(({ vms }) => vms.has(id))!;
  for (const [plane, rules] of [
    [one!, none],
    [other!, some],
  ] as const) {
    const row = await change(plane, id, rules);
    assert.deepEqual([rulesOf(holder, id), plane.agents.inEffect(row)], [rules, true]);
  }
  for (const plane of [one!, other!]) await plane.end();
});
