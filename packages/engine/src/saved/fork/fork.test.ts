/** Forks and agents from snapshots, as far as their rows go, on a real database. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, test } from 'node:test';
import { defaultDisk, makeAgentId } from '@lodge/domain';
import {
  connectionClientSecretContext,
  connectionHeaderContext,
  connectionSecretContext,
  llmKeyContext,
} from '@lodge/ports';
import { portsOf } from '@lodge/store/agents';
import { connectionsOf } from '@lodge/store/connections';
import { schedulesOf } from '@lodge/store/schedules';
import { skillsOfAgents } from '@lodge/store/skills';
import { input, running } from '../../../../testkit/src/plane/plane.ts';
import type { PlaneOptions } from '../../../../testkit/src/plane/plane.ts';
import { firstAccount } from '../../../../store/src/testing/fixture.ts';
import type { CreateAgentInput, ForkInput } from '../../agents/agents.ts';
import { confirmations, openParent } from '../testing.ts';

const { world, plane, parent, snapshot, another, readySnapshot, opened, sql, fork, close } = await openParent();
after(close);

const newId = () => makeAgentId(randomInt);
const read = <T>(work: Parameters<typeof world.store.database.repeatable<T>>[0]) =>
  world.store.database.repeatable(work);

test('a fork has what its parent is by settings, under an id and a name of its own, and none of its state', async () => {
  const [row] = await fork();
  const fields = [
    'instructions',
    'model',
    'size',
    'lifecycle',
    'members',
    'env',
    'egress',
    'packages',
    'labels',
  ] as const;
  for (const field of fields) assert.deepEqual(row![field], parent[field], field);
  assert.deepEqual(row!.confirmations, { ...confirmations, rules: confirmations.rules, deliver: [] });
  assert.deepEqual(row!.spendLimit, { dailyUsd: '5.00', monthlyUsd: null, action: 'block' });
  assert.match(row!.name, /^Ada fork \d+$/);
  const { id: snapshot_id, createdAt } = snapshot;
  const origin = { agent_id: parent.id, snapshot_id, at: createdAt.toISOString() };
  assert.deepEqual(
    [row!.status, row!.acknowledged, row!.nextFrom, row!.nextMemory, row!.host, row!.forkedFrom, row!.hostAccess],
    ['provisioning', false, snapshot.id, true, 'elsewhere', origin, null],
  );
  assert.deepEqual([row!.settingsApplied, row!.packagesApplied, row!.skillsApplied], [null, null, null]);
  assert.deepEqual([row!.turns, row!.executionId, row!.vmAddress, row!.channels], [0, null, null, []]);
  assert.ok(row!.turnNote!.includes(row!.id) && row!.turnNote!.includes(parent.id));
  const events = await sql<{ agent_id: string; type: string; data: object }>(
    `select agent_id, type, data from events where type in ('agent.forked', 'agent.created') order by id desc limit 2`,
  );
  assert.deepEqual(events.toReversed(), [
    { agent_id: row!.id, type: 'agent.created', data: { name: row!.name } },
    { agent_id: parent.id, type: 'agent.forked', data: { snapshot_id, forks: [row!.id] } },
  ]);
});

test('each fork opens copies of the secrets by its own id alone; a grant of OAuth is not among them', async () => {
  const rows = await fork({ count: 3, include: ['connections', 'schedules', 'ports'] });
  const seen = new Set<string>();
  for (const { id, accountId, llmKeys, hostAccess } of rows) {
    assert.deepEqual(hostAccess, parent.hostAccess);
    const sealed: [string, (agent: string) => string, string][] = llmKeys.map((key) => [
      key.sealed,
      (agent) => llmKeyContext(agent, key.provider),
      'sk-of-ada-0123456789',
    ]);
    for (const { name, headers, secrets: own, oauth } of await read((db) => connectionsOf(db, accountId, id))) {
      for (const each of headers)
        sealed.push([
          each.sealed,
          (agent) => connectionHeaderContext(agent, name, each.name),
          'a header of some length',
        ]);
      for (const each of own)
        sealed.push([
          each.sealed,
          (agent) => connectionSecretContext(agent, name, each.name),
          'a secret of some length',
        ]);
      if (oauth === null) continue;
      assert.deepEqual([oauth.grant, oauth.status, oauth.clientId], [null, 'needed', 'c']);
      const { clientSecret } = oauth;
      sealed.push([clientSecret!.sealed, (agent) => connectionClientSecretContext(agent, name), 'a client secret']);
    }
    assert.equal(sealed.length, 4);
    for (const [text, contextOf, secret] of sealed) {
      assert.equal(opened(text, contextOf(id)), secret);
      assert.throws(() => opened(text, contextOf(parent.id)));
      assert.ok(!seen.has(text));
      seen.add(text);
    }
    const schedules = await read((db) => schedulesOf(db, accountId, id));
    assert.deepEqual(
      schedules.map(({ name, enabled, nextRunAt, deliverTo, cron }) => [name, enabled, nextRunAt, deliverTo, cron]),
      ['S', 'T'].map((name) => [name, false, null, 'none', '0 9 * * *']),
    );
    const ports = await read((db) => portsOf(db, accountId, id));
    assert.deepEqual(
      ports.map(({ port, public: isPublic }) => [port, isPublic]),
      [[3000, true]],
    );
    const [used, ...others] = await read((db) => skillsOfAgents(db, [id]));
    assert.deepEqual([used!.name, used!.members, others], ['notes', ['scout', null], []]);
  }
  const wanted = new Set(rows.map(({ skillsWanted }) => skillsWanted));
  assert.deepEqual([...wanted], [parent.skillsWanted]);
});

test('fields of the request are those of the forks, and what is merged with the parent is', async () => {
  const rows = await fork({
    name: 'Try',
    count: 2,
    llmKeys: 'none',
    include: ['browser'],
    change: {
      instructions: null,
      model: 'p/other',
      size: 'medium',
      labels: { old: null, new: 'c' },
      spendLimit: { dailyUsd: '1', monthlyUsd: null, action: 'pause' },
      lifecycle: { idleTimeoutSeconds: 7 },
      peers: [parent.id],
      confirmations: null,
      packages: { apt: [], pip: [], npm: [] },
    },
  });
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['Try 1', 'Try 2'],
  );
  for (const row of rows) {
    assert.deepEqual(
      [row.instructions, row.model, row.size, row.labels, row.llmKeys, row.peers, row.confirmations, row.packages.apt],
      [null, 'p/other', 'medium', { team: 'a', new: 'c' }, [], [parent.id], null, []],
    );
    assert.deepEqual(row.spendLimit, { dailyUsd: '1', monthlyUsd: null, action: 'pause' });
    assert.deepEqual(row.lifecycle, { ...parent.lifecycle, idleTimeoutSeconds: 7 });
    assert.deepEqual([row.env, row.forkedFrom?.browser], [parent.env, true]);
  }
  assert.notEqual(rows[0]!.turnNote, rows[1]!.turnNote);
});

test('what forks cannot have is refused before anything is written', async () => {
  const other = await running(world, plane);
  const foreign = await readySnapshot(other);
  const [damaged, saving] = [
    await readySnapshot(parent, { status: 'damaged', error: 'x' }),
    await readySnapshot(other, { status: 'saving' }),
  ];
  const large = await readySnapshot(parent, { size: 'large' });
  const [{ n: before }] = (await sql<{ n: number }>('select count(*)::int as n from agents')) as [{ n: number }];
  const refused = (given: Partial<ForkInput>, code: string, message = /./, of = parent) =>
    assert.rejects(fork(given, plane, of), { code, message });
  await refused({ snapshot: foreign.id }, 'snapshot_not_found');
  await refused({ snapshot: newId() }, 'snapshot_not_found');
  await refused({ snapshot: 'no id' }, 'snapshot_not_found');
  await refused({ snapshot: damaged.id }, 'snapshot_damaged');
  await refused({ snapshot: saving.id }, 'snapshot_not_ready', /./, other);
  await refused({}, 'snapshot_not_found', /./, other);
  await refused({ snapshot: large.id, change: { size: 'medium' } }, 'invalid_request', /^size must not be smaller/);
  await refused({ change: { model: 'bare' } }, 'invalid_request', /^model /);
  await refused({ change: { models: ['q/m'] } }, 'invalid_request', /^models\[0\]/);
  await refused({ change: { peers: [newId()] } }, 'invalid_request', /^peers\[0\]/);
  const deliver = [{ channel: 'telegram', conversation: '1' }] as const;
  await refused(
    { change: { confirmations: { ...confirmations, deliver } } },
    'invalid_request',
    /deliver must be empty/,
  );
  await refused({ change: { confirmations } }, 'invalid_request', /no connection mcp/);
  const stranger = await firstAccount(world.store.database);
  const asked = { count: 1, include: [], llmKeys: 'copy', change: {}, snapshot: snapshot.id } as const;
  const parts = { ids: [newId()], save: () => Promise.reject(new Error('no')) };
  await assert.rejects(plane.agents.fork(stranger, parent.id, asked, parts), { code: 'agent_not_found' });
  const [{ n: after }] = (await sql<{ n: number }>('select count(*)::int as n from agents')) as [{ n: number }];
  assert.equal(after, before);
});

test('20 forks fit, or none of them: by quotas, memory and disk', async () => {
  const all = await fork({ count: 20 });
  assert.equal(new Set(all.map(({ name }) => name)).size, 20);
  const [{ n: before, running: runs }] = (await sql(
    `select count(*)::int as n, count(*) filter (where status in ('provisioning', 'running'))::int as running
     from agents where deleted_at is null`,
  )) as [{ n: number; running: number }];
  const [{ mib }] = (await sql(`select sum(case size when 'small' then 2048 else 4096 end)::int as mib from agents
    where status in ('provisioning', 'running', 'paused')`)) as [{ mib: number }];
  const total = (await plane.driver.hostMemory()).totalMib;
  const free = { reservedMib: 0, overcommit: 1_000 };
  const tight = { reservedMib: 0, overcommit: (mib + 19.5 * 2048) / total };
  const cases: readonly [PlaneOptions, code: string, message: RegExp][] = [
    [{ maxAgentsPerAccount: before + 19, memory: free }, 'quota_exceeded', /and 20 more are too many/],
    [{ maxRunningPerAccount: runs + 19, memory: free }, 'quota_exceeded', /running agents.*and 20 more/],
    [{ memory: tight }, 'insufficient_capacity', /no room for 20 small agents/],
    [{ memory: free, disk: { ...defaultDisk, overcommit: 0.001 } }, 'insufficient_capacity', /disk space for 20/],
  ];
  for (const [options, code, message] of cases) {
    const one = await another(options);
    await assert.rejects(fork({ count: 20 }, one), { code, message }, code);
    one.kill();
  }
  const [{ n: now }] = (await sql('select count(*)::int as n from agents where deleted_at is null')) as [{ n: number }];
  assert.equal(now, before);
});

test('a new agent is made from a snapshot with the settings of its request alone', async () => {
  const made = (given: Partial<CreateAgentInput>) =>
    plane.agents.create(world.accountId, { ...input, runtimeKind: undefined, size: undefined, ...given });
  const row = await made({ name: 'New', from: { snapshot: snapshot.id } });
  assert.deepEqual([row.name, row.runtimeKind, row.size, row.members], ['New', 'runtime_a', 'small', []]);
  assert.deepEqual([row.instructions, row.llmKeys, row.env, row.labels], [null, [], {}, {}]);
  assert.deepEqual([row.nextFrom, row.host, row.forkedFrom?.agent_id], [snapshot.id, 'elsewhere', parent.id]);
  assert.match(row.turnNote!, /^You are a new agent, "New"/);
  const kept = await made({ from: { snapshot: snapshot.id, withBrowser: true }, size: 'large' });
  assert.deepEqual([kept.size, kept.forkedFrom?.browser], ['large', true]);
  const large = await readySnapshot(parent, { size: 'large' });
  const refused = (given: Partial<CreateAgentInput>, code: string, message = /./) =>
    assert.rejects(made(given), { code, message });
  await refused({ from: { snapshot: large.id }, size: 'medium' }, 'invalid_request', /^size must not be smaller/);
  await refused(
    { from: { snapshot: snapshot.id }, runtimeKind: 'runtime_b' },
    'invalid_request',
    /^runtime_kind must be/,
  );
  await refused({ from: { snapshot: newId() } }, 'snapshot_not_found');
  const stranger = await firstAccount(world.store.database);
  const theirs = plane.agents.create(stranger, { ...input, from: { snapshot: snapshot.id } });
  await assert.rejects(theirs, { code: 'snapshot_not_found' });
});
