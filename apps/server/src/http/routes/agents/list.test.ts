import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidCursorError } from '@lodge/ports';
import { agentRow, testApp } from '../../../../../../packages/testkit/src/plane/http/test-app.ts';

test('pages are linked by next_cursor until has_more is false', async () => {
  const { call, agents } = testApp();
  agents.rows = Array.from({ length: 5 }, () => agentRow());
  const seen: string[] = [];
  let cursor: string | null = '';
  const pages: boolean[] = [];
  while (cursor !== null) {
    const { body }: { body: any } = await call('GET', `/v1/agents?limit=2${cursor && `&cursor=${cursor}`}`);
    assert.equal(body.object, 'list');
    seen.push(...body.data.map(({ id }: { id: string }) => id));
    pages.push(body.has_more);
    cursor = body.next_cursor;
  }
  assert.deepEqual(
    seen,
    agents.rows.map(({ id }) => id),
  );
  assert.deepEqual(pages, [true, true, false]);
});

test('filters reach the store as they are meant', async () => {
  const { call, agents } = testApp();
  await call('GET', '/v1/agents');
  const query =
    'limit=7&status=error&runtime_kind=hermes&name=a%26b+c&metadata[team]=x&metadata%5Bk%5D=y&label[example.com/a]=b&label[c]=&has_label=d&order=asc';
  await call('GET', `/v1/agents?${query}`);
  const [plain, filtered] = agents.lists;
  assert.deepEqual(plain, { accountId: 'account', limit: 20, order: 'desc' });
  assert.deepEqual(JSON.parse(JSON.stringify(filtered)), {
    accountId: 'account',
    limit: 7,
    order: 'asc',
    status: 'error',
    runtimeKind: 'runtime_b',
    name: 'a&b c',
    metadata: { team: 'x', k: 'y' },
    labels: { 'example.com/a': 'b', c: '' },
    hasLabel: 'd',
  });
});

test('a wrong, unknown or repeated parameter is a 400 that names it', async () => {
  const { call, agents } = testApp();
  const rows = [
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=0x10', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['status=asleep', 'status'],
    ['runtime_kind=runtime_c', 'runtime_kind'],
    ['order=up', 'order'],
    ['name=', 'name'],
    ['name=%00', 'name'],
    ['metadata=x', 'metadata'],
    ['metadata[]=x', 'metadata'],
    ['metadata[a]=1&metadata[a]=2', 'metadata.a'],
    ['metadata[a]=1&metadata=2', 'metadata'],
    ['label=x', 'label'],
    ['label[A]=x', 'label'],
    ['label[a]=1&label[a]=2', 'label.a'],
    ['has_label=', 'has_label'],
    ['has_label[a]=1', 'has_label'],
    ['name[a]=1', 'name'],
    ['page=2', 'page'],
    ['__proto__=1', '__proto__'],
    ['constructor[prototype]=1', 'constructor'],
  ] as const;
  for (const [query, field] of rows) {
    const { status, body } = await call('GET', `/v1/agents?${query}`);
    assert.deepEqual([status, body.error.code], [400, 'invalid_request'], query);
    assert.ok(body.error.message.startsWith(field), `${query}: ${body.error.message}`);
  }
  assert.equal(agents.lists.length, 0);
});

test('a cursor that is not ours is a 400', async () => {
  const { call, agents } = testApp();
  agents.list = () => Promise.reject(new InvalidCursorError());
  const { status, body } = await call('GET', '/v1/agents?cursor=x');
  assert.deepEqual([status, body.error.code], [400, 'invalid_request']);
  assert.match(body.error.message, /cursor/);
});
