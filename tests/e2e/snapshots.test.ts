/** Snapshots over HTTP, on a real database: what owners save, read, change and delete. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { RuntimeBusy } from '@lodge/ports';
import { openWorld, send } from './api/world.ts';
import type { World } from './api/world.ts';
import { Client } from './contract/states.ts';
import { until } from '../../packages/testkit/src/plane/plane.ts';

let world: World;
let client: Client;
let agentId: string;
let isBusy = false;

before(async () => {
  world = await openWorld({
    runtime: {
      async quiesce(_guest, facts) {
        if (isBusy) throw new RuntimeBusy('told to be busy');
        return facts;
      },
    },
  });
  client = new Client(world);
  agentId = await client.agent('running');
});
after(() => world?.close());

const save = (body: object = {}, headers: Record<string, string> = {}, query = '') =>
  send(world.url, 'POST', `/v1/agents/${agentId}/snapshots${query}`, { key: world.key, body, headers });

test('201: the snapshot in the letters of the contract, at its Location', async () => {
  const answer = await save({ name: ' before the move ', note: 'n', expires_at: '2099-01-31T12:00:00+01:00' });
  assert.equal(answer.status, 201, answer.text);
  const { id, created_at, bytes, disk_bytes, ...rest } = answer.body;
  assert.equal(answer.headers.get('location'), `/v1/snapshots/${id}`);
  assert.ok(Date.parse(created_at) > 0 && bytes >= 0 && disk_bytes > 0);
  assert.deepEqual(rest, {
    object: 'snapshot',
    agent_id: agentId,
    name: 'before the move',
    note: 'n',
    kind: 'named',
    status: 'ready',
    memory: true,
    loads: 'memory',
    runtime: { name: 'openclaw', version: '1' },
    size: 'small',
    pinned: false,
    expires_at: '2099-01-31T11:00:00.000Z',
    error: null,
  });
  assert.deepEqual((await client.call('GET', `/snapshots/${id}`)).body, answer.body);
});

test('the same key makes one snapshot; 202 where nobody waits, and the agent shows no transition', async () => {
  const before = (await client.call('GET', '/snapshots?limit=100')).body.data.length;
  const headers = { 'idempotency-key': `k-${agentId}` };
  const [first, second] = [await save({ memory: false }, headers), await save({ memory: false }, headers)];
  assert.deepEqual([first.status, second.status], [201, 201]);
  assert.equal(first.text, second.text);
  const go = Promise.withResolvers<void>();
  world.host.behaviour = (step) => (step === 'keep' ? go.promise : Promise.resolve());
  const begun = await save({}, {}, '?wait=false');
  assert.deepEqual([begun.status, begun.body.status], [202, 'saving']);
  const agent = (await client.call('GET', `/agents/${agentId}`)).body;
  assert.deepEqual([agent.status, agent.transition], ['running', null]);
  const refused = await client.call('DELETE', `/snapshots/${begun.body.id}`);
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'snapshot_not_ready']);
  go.resolve();
  world.host.behaviour = () => Promise.resolve();
  const of = async () => (await client.call('GET', `/snapshots/${begun.body.id}`)).body.status;
  await until('it is saved', async () => (await of()) === 'ready');
  assert.equal((await client.call('GET', '/snapshots?limit=100')).body.data.length, before + 2);
});

test('409 agent_busy with Retry-After, and the same key saves anew once the agent is quiet', async () => {
  const headers = { 'idempotency-key': `busy-${agentId}` };
  isBusy = true;
  const refused = await save({ name: 'later' }, headers);
  isBusy = false;
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'agent_busy']);
  assert.equal(refused.headers.get('retry-after'), '10');
  const saved = await save({ name: 'later' }, headers);
  assert.deepEqual([saved.status, saved.body.status], [201, 'ready']);
  const { data } = (await client.call('GET', `/agents/${agentId}/snapshots`)).body;
  assert.match(data.find(({ status }: { status: string }) => status === 'failed').error, /was at work/);
});

test('an agent goes back, and the same key does so once; a stopped one stays stopped', async () => {
  const { id } = (await save({ name: 'good' })).body;
  const restore = (body: object, headers: Record<string, string> = {}) =>
    send(world.url, 'POST', `/v1/agents/${agentId}/restore`, { key: world.key, body, headers });
  const headers = { 'idempotency-key': `back-${agentId}` };
  isBusy = true;
  const refused = await restore({ snapshot: id }, headers);
  isBusy = false;
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'agent_busy']);
  const back = await restore({ snapshot: id }, headers);
  assert.deepEqual([back.status, back.body.status, back.body.transition], [200, 'running', null], back.text);
  assert.equal((await restore({ snapshot: id }, headers)).text, back.text);
  const { data } = (await client.call('GET', `/agents/${agentId}/snapshots?limit=100`)).body;
  const presents = data.filter(({ kind }: { kind: string }) => kind === 'before_restore');
  assert.deepEqual(
    presents.map(({ status }: { status: string }) => status),
    ['ready', 'failed'],
  );
  const events = (await client.call('GET', `/events?agent_id=${agentId}&type=agent.restored`)).body.data;
  assert.equal(events.length, 1);
  const stopped = await client.call('POST', `/agents/${agentId}/stop`);
  assert.equal(stopped.body.status, 'stopped');
  assert.equal((await restore({ snapshot: presents[0].id, save_present: false })).body.status, 'stopped');
  assert.equal((await client.call('POST', `/agents/${agentId}/start`)).body.status, 'running');
});

test('pages neither skip nor repeat; a page of another list is refused', async () => {
  const all = (await client.call('GET', `/agents/${agentId}/snapshots?limit=100`)).body.data;
  const seen: string[] = [];
  let next: string | null = '';
  while (next !== null) {
    const { body } = await client.call('GET', `/agents/${agentId}/snapshots?limit=2${next && `&cursor=${next}`}`);
    seen.push(...body.data.map(({ id }: { id: string }) => id));
    next = body.next_cursor as string | null;
    if (next !== null) assert.equal((await client.call('GET', `/snapshots?cursor=${next}`)).status, 400);
  }
  assert.deepEqual(
    seen,
    all.map(({ id }: { id: string }) => id),
  );
  assert.equal((await client.call('GET', '/snapshots?kind=auto')).body.data.length, 0);
  assert.equal((await client.call('GET', '/snapshots?agent_id=aaaaaaaaaaaa')).body.data.length, 0);
});

test('PATCH and DELETE; quotas and events tell of it', async () => {
  const { id } = (await save({ memory: false })).body;
  const changed = await client.call('PATCH', `/snapshots/${id}`, { name: 'kept', pinned: true });
  assert.deepEqual([changed.status, changed.body.name, changed.body.pinned], [200, 'kept', true]);
  const { snapshots } = (await client.call('GET', '/limits')).body;
  assert.deepEqual([snapshots.per_agent, snapshots.limit_gb], [50, 100]);
  const deleted = await client.call('DELETE', `/snapshots/${id}`);
  assert.deepEqual(deleted.body, { object: 'snapshot.deleted', id, deleted: true });
  assert.equal((await client.call('GET', `/snapshots/${id}`)).body.error.code, 'snapshot_not_found');
  const { data } = (await client.call('GET', '/events?limit=20')).body;
  const told = data.map(({ type }: { type: string }) => type).filter((type: string) => type.startsWith('snapshot.'));
  assert.deepEqual(told.slice(0, 3), ['snapshot.deleted', 'snapshot.updated', 'snapshot.created']);
  const audit = (await client.call('GET', '/audit-events?limit=3')).body.data;
  assert.deepEqual(
    audit.map(({ action }: { action: string }) => action),
    ['snapshot.deleted', 'snapshot.updated', 'snapshot.requested'],
  );
});
