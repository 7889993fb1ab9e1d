/** Schedules over HTTP, on a real database: what owners make, read, change, run and remove. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { openWorld, send } from './api/world.ts';
import type { World } from './api/world.ts';
import { Client } from './contract/states.ts';
import { until } from '../../packages/testkit/src/plane/plane.ts';

let world: World;
let client: Client;
let agentId: string;

before(async () => {
  world = await openWorld();
  client = new Client(world);
});
after(() => world?.close());
beforeEach(async () => {
  agentId = await client.agent('running');
});

const base = { name: 'Report', prompt: 'Write it.', cron: '0 9 * * 1-5', time_zone: 'Europe/Berlin' };
const make = async (given: object = {}) => {
  const answer = await client.call('POST', `/agents/${agentId}/schedules`, { ...base, ...given });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
};
const call = (method: string, id: string, rest = '', body?: object) =>
  client.call(method, `/agents/${agentId}/schedules/${id}${rest}`, body);
const codeOf = ({ status, body }: { readonly status: number; readonly body: any }) => [status, body.error?.code];

describe('POST', () => {
  test('201: the schedule, with the letters of the contract and its next time', async () => {
    const { id, agent_id, created_at, updated_at, next_run_at, ...rest } = await make();
    assert.match(id, /^[a-z][a-z0-9]{11}$/);
    assert.equal(agent_id, agentId);
    assert.ok(Date.parse(created_at) <= Date.parse(updated_at));
    const local = new Date(next_run_at).toLocaleTimeString('en-GB', { timeZone: 'Europe/Berlin' });
    assert.equal(local, '09:00:00');
    assert.deepEqual(rest, {
      object: 'schedule',
      name: 'Report',
      enabled: true,
      cron: '0 9 * * 1-5',
      time_zone: 'Europe/Berlin',
      prompt: 'Write it.',
      deliver: { to: 'none' },
      wake: true,
      last_run: null,
    });
  });

  test('201: the same key makes one schedule', async () => {
    const ask = () =>
      send(world.url, 'POST', `/v1/agents/${agentId}/schedules`, {
        key: world.key,
        body: base,
        headers: { 'idempotency-key': `k-${agentId}` },
      });
    const [first, second] = [await ask(), await ask()];
    assert.deepEqual([first.status, second.status], [201, 201]);
    assert.equal(first.text, second.text);
    assert.equal((await client.call('GET', `/agents/${agentId}/schedules`)).body.data.length, 1);
  });

  test('429 quota_exceeded: the 101st', async () => {
    await world.sql.query(
      `insert into schedules (id, agent_id, account_id, name, enabled, every, time_zone, anchor, prompt, deliver_to, wake)
       select 'x' || n, $1, $2, 'S', false, '1h', 'UTC', now(), 'x', 'none', true from generate_series(1, 100) n`,
      [agentId, world.accountId],
    );
    const answer = await client.call('POST', `/agents/${agentId}/schedules`, base);
    assert.deepEqual(codeOf(answer), [429, 'quota_exceeded']);
  });
});

describe('GET', () => {
  test('200: one, and all in their order', async () => {
    const [one, two] = [await make(), await make({ name: 'Second' })];
    assert.deepEqual((await call('GET', one.id)).body, one);
    const { body } = await client.call('GET', `/agents/${agentId}/schedules`);
    assert.deepEqual(body, { object: 'list', data: [one, two], has_more: false, next_cursor: null });
  });

  test("404: another account's key, and another agent's schedule", async () => {
    const { id } = await make();
    agentId = await client.agent('running');
    assert.deepEqual(codeOf(await call('GET', id)), [404, 'schedule_not_found']);
  });
});

describe('PATCH', () => {
  test('200: only what is given changes; another kind of time takes the place of the one before', async () => {
    const { id } = await make({ conversation: 'mine' });
    const { body } = await call('PATCH', id, '', { every: '2h', conversation: null, wake: false });
    assert.deepEqual([body.cron, body.every, body.conversation, body.wake], [undefined, '2h', undefined, false]);
    assert.deepEqual([body.name, body.prompt, body.time_zone], ['Report', 'Write it.', 'Europe/Berlin']);
    const off = (await call('PATCH', id, '', { enabled: false })).body;
    assert.deepEqual([off.enabled, off.next_run_at], [false, null]);
  });

  test('400: nothing changes', async () => {
    const row = await make();
    assert.deepEqual(codeOf(await call('PATCH', row.id, '', { name: 'New', cron: '61 * * * *' })), [
      400,
      'invalid_request',
    ]);
    assert.deepEqual((await call('GET', row.id)).body, row);
  });
});

test('DELETE 200, then 404', async () => {
  const { id } = await make();
  assert.deepEqual((await call('DELETE', id)).body, { object: 'schedule.deleted', id, deleted: true });
  assert.deepEqual(codeOf(await call('DELETE', id)), [404, 'schedule_not_found']);
});

test('a run is made, seen under way and ended, and refused while one is not over', async () => {
  const { id } = await make();
  const asked = await call('POST', id, '/run');
  assert.equal(asked.status, 201, asked.text);
  assert.deepEqual([asked.body.object, asked.body.schedule_id, asked.body.status], ['schedule_run', id, null]);
  const again = await call('POST', id, '/run');
  assert.ok(again.status === 409 ? again.body.error.code === 'schedule_running' : again.status === 201);
  await until('it is over', async () => (await call('GET', id)).body.last_run?.status === 'ok', 20_000);
  const { body } = await call('GET', id, '/runs?limit=1');
  assert.deepEqual([body.object, body.data.length], ['list', 1]);
  const { events } = { events: (await client.call('GET', '/events?type=schedule.ran')).body.data };
  assert.ok(events.some((event: any) => event.data.schedule_id === id && event.data.deliver === 'none'));
});

test('runs are read page by page, and a page of another schedule is refused', async () => {
  const [one, two] = [await make({ enabled: false }), await make({ enabled: false })];
  await world.sql.query(
    `insert into schedule_runs (schedule_id, agent_id, account_id, scheduled_for, status, ended_at)
     select $1, $2, $3, now() - n * interval '1 hour', 'ok', now() from generate_series(1, 5) n`,
    [one.id, agentId, world.accountId],
  );
  const seen: string[] = [];
  let cursor = '';
  for (let page = 0; page < 3; page += 1) {
    const { body } = await call('GET', one.id, `/runs?limit=2${cursor}`);
    seen.push(...body.data.map(({ id }: { id: string }) => id));
    if (page === 0) {
      const other = await call('GET', two.id, `/runs?cursor=${encodeURIComponent(body.next_cursor)}`);
      assert.deepEqual(codeOf(other), [400, 'invalid_request']);
    }
    cursor = body.next_cursor === null ? '' : `&cursor=${encodeURIComponent(body.next_cursor)}`;
  }
  assert.equal(new Set(seen).size, 5);
});
