import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openApp } from '../../../../../../packages/testkit/src/plane/http/open-app.ts';

const { call, agent, close } = await openApp();
after(close);

test('pages are linked by next_cursor until has_more is false', async () => {
  const made: string[] = [];
  for (let count = 0; count < 5; count += 1) made.push(await agent());
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
  assert.deepEqual(seen, made.toReversed());
  assert.deepEqual(pages, [true, true, false]);
});

test('each filter leaves out an agent that lacks it, and all together find the one that has all', async () => {
  const columns = { status: 'paused', runtime_kind: 'runtime_b' };
  const given = { metadata: { team: 'x', k: 'y' }, labels: { 'example.com/a': 'b', c: '', d: 'e' } };
  const wanted = await agent({ name: 'A&b cd', ...given }, columns);
  const filters = ['status=paused', 'runtime_kind=hermes', 'name=a%26b+c', 'metadata[team]=x&metadata%5Bk%5D=y'];
  filters.push('label[example.com/a]=b&label[c]=', 'has_label=d');
  for (const query of [...filters, `limit=7&order=asc&${filters.join('&')}`]) {
    const { body } = await call('GET', `/v1/agents?${query}`);
    assert.deepEqual(
      body.data.map(({ id }: { id: string }) => id),
      [wanted],
      query,
    );
  }
});

test('a wrong, unknown or repeated parameter is a 400 that names it', async () => {
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
});

test('a cursor that is not ours is a 400', async () => {
  const { status, body } = await call('GET', '/v1/agents?cursor=x');
  assert.deepEqual([status, body.error.code], [400, 'invalid_request']);
  assert.match(body.error.message, /cursor/);
});
