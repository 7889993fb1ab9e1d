import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { publicEvents } from '@lodge/domain';
import { admitAll, newAgent, silent } from '../../../../../../packages/store/src/testing/fixture.ts';
import { openApp } from '../../../../../../packages/testkit/src/plane/http/open-app.ts';
import { openTestStore } from '../../../../../../packages/store/src/testing/agents-fixture.ts';

const {
  call,
  accountId,
  key,
  sql,
  store: here,
  baseUrl,
  connectionString,
  close,
} = await openApp({
  api: (usual) => ({ ...usual, logSilenceMs: 200 }),
});
/** Another server's. */
const there = await openTestStore({ connectionString, log: silent });
after(async () => {
  await there.close();
  await close();
});
await sql("insert into accounts (id, name) values ('stranger', 'a')");
// Making a key is an event too.
for (const name of ['all', 'agents:write']) await key(name);
await sql('delete from events');

const create = async (of = accountId, store = here): Promise<string> =>
  (await store.agents.create(newAgent(of), admitAll)).id;

/** Reads `count` events from a stream; further ones may be made meanwhile. */
async function streamed(query: string, count: number, headers = {}, meanwhile = async () => {}): Promise<string[]> {
  const connection = new AbortController();
  const response = await fetch(`${baseUrl}/events${query}`, {
    headers: { 'x-api-key': await key('all'), ...headers },
    signal: connection.signal,
  });
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type')!, /^text\/event-stream/);
  const making = meanwhile();
  let text = '';
  const decoder = new TextDecoder();
  for await (const bytes of response.body!) {
    text += decoder.decode(bytes, { stream: true });
    if ((text.match(/^id: /gm) ?? []).length >= count) break;
  }
  connection.abort();
  await making;
  return [...text.matchAll(/^id: (\d+)\ndata: (.*)$/gm)].map(([, id, data]) => {
    const event = JSON.parse(data!) as { id: string; agent_id: string };
    assert.equal(event.id, id);
    return event.agent_id;
  });
}

test('an event has what the contract says, of the own account alone, and not what is not public', async () => {
  await create('stranger');
  const id = await create();
  await here.agents.begin(id, 'request', () => ({ do: 'begin', kind: 'stop' }));
  const { status, body } = await call('GET', '/v1/events');
  assert.equal(status, 200);
  const [{ id: eventId, created_at, ...rest }, ...others] = body.data;
  assert.deepEqual(rest, {
    object: 'event',
    type: 'agent.created',
    agent_id: id,
    data: { name: newAgent(accountId).name },
  });
  assert.ok(/^\d+$/.test(eventId) && Date.parse(created_at) > Date.now() - 60_000);
  assert.deepEqual([others, body.object, body.has_more, body.next_cursor], [[], 'list', false, null]);
});

test('both ways the pages are whole, and filters narrow them', async () => {
  for (let n = 0; n < 6; n += 1) await create();
  const all = (await call('GET', '/v1/events?direction=asc')).body.data.map(({ id }: { id: string }) => id);
  for (const direction of ['asc', 'desc']) {
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const next: string = cursor === '' ? `direction=${direction}` : `cursor=${cursor}`;
      const { body } = await call('GET', `/v1/events?limit=3&${next}`);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      cursor = body.next_cursor;
    }
    assert.deepEqual(seen, direction === 'asc' ? all : all.toReversed());
  }
  const agent = await create();
  const found = async (query: string) => (await call('GET', `/v1/events?${query}`)).body.data.length;
  assert.equal(await found(`agent_id=${agent}`), 1);
  assert.equal(await found('type=agent.deleted'), 0);
  assert.equal(await found('type=agent.created&limit=2'), 2);
  assert.equal(await found('until=2020-01-01T00:00:00Z'), 0);
  assert.equal(await found('since=2020-01-01T00:00:00Z'), all.length + 1);
});

test('a stream goes on behind the last event that was received, and tells at once what another server writes', async () => {
  const first = await create();
  const { id: last } = (await call('GET', '/v1/events?limit=1')).body.data[0];
  const second = await create();
  let third = '';
  const seen = await streamed('', 2, { accept: 'text/event-stream', 'last-event-id': last }, async () => {
    third = await create(accountId, there);
    await create('stranger', there);
  });
  assert.deepEqual(seen, [second, third]);
  assert.deepEqual(await streamed('?follow=true&limit=3', 3), [first, second, third]);
});

test('a key needs agents:read; what is wrong is named', async () => {
  assert.equal((await call('GET', '/v1/events', { key: 'agents:write' })).status, 403);
  for (const [query, name] of [
    ['limit=0', 'limit'],
    ['type=agent.root_used', 'type'],
    ['agent_id=x', 'agent_id'],
    ['cursor=x', 'cursor'],
    ['follow=true&until=2020-01-01T00:00:00Z', 'until'],
    ['follow=true&direction=desc', 'direction'],
  ]) {
    const { status, body } = await call('GET', `/v1/events?${query}`);
    assert.deepEqual([status, body.error.code], [400, 'invalid_request'], query);
    assert.ok(body.error.message.includes(name), body.error.message);
  }
  const { body } = await call('GET', '/v1/events?limit=1&direction=asc');
  assert.equal((await call('GET', `/v1/events?direction=desc&cursor=${body.next_cursor}`)).status, 400);
});

test('the guide has every public event with what it means', async () => {
  const guide = await readFile(new URL('../../../../../../docs/guides/events.md', import.meta.url), 'utf8');
  const rows = [...guide.matchAll(/^\| `([a-z_]+\.[a-z_]+)` +\| (.*?) +\|$/gm)].map(([, type, meaning]) => [
    type,
    meaning,
  ]);
  assert.deepEqual(rows, [...publicEvents]);
});
