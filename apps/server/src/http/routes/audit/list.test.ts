import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openApp } from '../../../../../../packages/testkit/src/plane/http/open-app.ts';

const { call, agent, accountId, sql, close } = await openApp();
after(close);
const agents: string[] = [];
for (let count = 0; count < 5; count += 1) agents.push(await agent());

interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

test('an event is told whole', async () => {
  const id = agents[0]!;
  const { headers } = await call('PATCH', `/v1/agents/${id}`, { body: { name: 'Ada' } });
  const { status, body } = await call('GET', '/v1/audit-events?limit=1');
  assert.equal(status, 200);
  const [{ id: eventId, created_at, actor, ...event }] = body.data;
  assert.ok(/^\d+$/.test(eventId) && Date.parse(created_at) > Date.now() - 60_000);
  const [key] = await sql("select id from api_keys where account_id = $1 and name = 'test'", [accountId]);
  assert.deepEqual(actor, { type: 'api_key', id: key!['id'] });
  assert.deepEqual(event, {
    object: 'audit_event',
    action: 'agent.updated',
    target: { type: 'agent', id },
    address: '127.0.0.1',
    request_id: headers['x-request-id'],
    details: { fields: ['name'] },
  });
});

test('pages follow one another in either order and neither skip nor repeat', async () => {
  const all = (await call('GET', '/v1/audit-events?limit=100&order=asc')).body.data.map(({ id }: { id: string }) => id);
  assert.ok(all.length > 5, 'agents, and a change');
  for (const order of ['asc', 'desc']) {
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const next: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { body }: { body: Page } = await call('GET', `/v1/audit-events?limit=2&order=${order}${next}`);
      seen.push(...body.data.map(({ id }) => id));
      assert.equal(body.has_more, body.next_cursor !== null);
      cursor = body.next_cursor;
    }
    assert.deepEqual(seen, order === 'asc' ? all : all.toReversed());
  }
});

test('a cursor that was not given, or for the other order, is a 400', async () => {
  const { body } = await call('GET', '/v1/audit-events?limit=2');
  const huge = Buffer.from(`desc.${'9'.repeat(19)}`).toString('base64url');
  for (const query of [
    `cursor=${body.next_cursor}&order=asc`,
    'cursor=x',
    'cursor=',
    `cursor=${huge}`,
    'limit=101',
    'x=1',
  ]) {
    const answer = await call('GET', `/v1/audit-events?${query}`);
    assert.deepEqual([answer.status, answer.body.error.code], [400, 'invalid_request'], query);
  }
});

test('a key needs agents:read', async () => {
  const answer = await call('GET', '/v1/audit-events', { key: 'agents:write' });
  assert.deepEqual([answer.status, answer.body.error.code], [403, 'insufficient_scope']);
});

test('filters leave out the others, and unknown ones are refused', async () => {
  const [, second] = agents;
  const [created] = (await call('GET', `/v1/audit-events?target_id=${second}`)).body.data;
  const query = `action=agent.*&actor_type=api_key&actor_id=${created.actor.id}&target_id=${second}`;
  assert.deepEqual((await call('GET', `/v1/audit-events?${query}`)).body.data, [created]);
  for (const none of ['action=webhook.*', 'actor_type=account', 'actor_id=k1', 'target_id=k2'])
    assert.deepEqual((await call('GET', `/v1/audit-events?${none}`)).body.data, [], none);
  for (const wrong of ['action=%25', 'actor_type=nobody', 'actor_id=', 'target_id=a%20b']) {
    assert.equal((await call('GET', `/v1/audit-events?${wrong}`)).status, 400, wrong);
  }
});
