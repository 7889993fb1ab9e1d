import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditEvent, AuditQuery } from '@lodge/ports';
import { testApp } from '../../../../../../packages/testkit/src/plane/http/test-app.ts';

const event = (id: number): AuditEvent => ({
  id: BigInt(id),
  at: new Date('2026-01-31T12:00:00Z'),
  accountId: 'account',
  actor: { kind: 'account', id: 'account' },
  action: 'api_key.created',
  target: { kind: 'api_key', id: `k${id}` },
  address: '192.0.2.1',
  requestId: 'req_1',
  details: { scopes: ['agents:read'] },
});

/** Ids 1 to 5 of one account. */
const asked: AuditQuery[] = [];
const audit = {
  async page(query: AuditQuery): Promise<AuditEvent[]> {
    asked.push(query);
    const { from, direction, limit } = query;
    const ids = direction === 'asc' ? [1, 2, 3, 4, 5] : [5, 4, 3, 2, 1];
    const behind = ids.filter((id) => from === undefined || (direction === 'asc' ? id > from : id < from));
    return behind.slice(0, limit).map(event);
  },
};
const { call } = testApp({ audit });

test('an event is told whole', async () => {
  const { status, body } = await call('GET', '/v1/audit-events?limit=1');
  assert.equal(status, 200);
  assert.deepEqual(body.data, [
    {
      object: 'audit_event',
      id: '5',
      created_at: '2026-01-31T12:00:00.000Z',
      actor: { type: 'account', id: 'account' },
      action: 'api_key.created',
      target: { type: 'api_key', id: 'k5' },
      address: '192.0.2.1',
      request_id: 'req_1',
      details: { scopes: ['agents:read'] },
    },
  ]);
  assert.equal(asked.at(-1)!.accountId, 'account', 'of the asking account alone');
});

test('pages follow one another in either order and neither skip nor repeat', async () => {
  for (const order of ['asc', 'desc']) {
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const next: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { body } = await call('GET', `/v1/audit-events?limit=2&order=${order}${next}`);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      assert.equal(body.has_more, body.next_cursor !== null);
      cursor = body.next_cursor;
    }
    const wanted = ['1', '2', '3', '4', '5'];
    assert.deepEqual(seen, order === 'asc' ? wanted : wanted.toReversed());
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

test('filters are handed on by their names, and others are refused', async () => {
  const query = 'action=api_key.*&actor_type=api_key&actor_id=k1&target_id=k2';
  assert.equal((await call('GET', `/v1/audit-events?${query}`)).status, 200);
  const { action, actorKind, actorId, targetId } = asked.at(-1)!;
  assert.deepEqual([action, actorKind, actorId, targetId], ['api_key.*', 'api_key', 'k1', 'k2']);
  for (const wrong of ['action=%25', 'actor_type=nobody', 'actor_id=', 'target_id=a%20b']) {
    assert.equal((await call('GET', `/v1/audit-events?${wrong}`)).status, 400, wrong);
  }
});
