import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionHeaderContext } from '@lodge/ports';
import type { ConnectionChange } from '@lodge/ports';
import { execute } from '@lodge/testkit/postgres';
import { admitAll, firstAccount, newAgent } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';

const { database, store, another } = await testStore();
const { connections } = store;
const accountId = await firstAccount(store.apiKeys);
const agent = async (): Promise<string> => (await store.agents.create(newAgent(accountId), admitAll)).id;
const change = (agentId: string, given: Partial<ConnectionChange> = {}): ConnectionChange => ({
  accountId,
  agentId,
  name: 'notes',
  kind: 'http',
  url: 'https://api.example.com/v1',
  allow: [{ methods: ['GET'], paths: ['/notes/*'] }],
  tools: null,
  enabled: true,
  auth: undefined,
  headers: [{ name: 'Authorization', sealed: 'sealed one', last4: '1234' }],
  ...given,
});
const rowsOf = (table: string, agentId: string) =>
  execute(database.connectionString, `select * from ${table} where agent_id = '${agentId}'`);

test('a connection is put, changed and removed; headers that are left out stay', async () => {
  const id = await agent();
  const first = await connections.put(change(id), 3);
  assert.ok(typeof first === 'object');
  assert.deepEqual(first.allow, [{ methods: ['GET'], paths: ['/notes/*'] }]);
  const second = await connections.put(change(id, { headers: undefined, enabled: false }), 3);
  assert.ok(typeof second === 'object');
  assert.notEqual(second.revision, first.revision);
  assert.deepEqual(
    second.headers.map(({ name, sealed, last4 }) => [name, sealed, last4]),
    [['Authorization', 'sealed one', '1234']],
  );
  const third = await connections.put(change(id, { headers: [{ name: 'X-Key', sealed: 'two', last4: '' }] }), 3);
  assert.ok(typeof third === 'object');
  assert.deepEqual(
    third.headers.map(({ name }) => name),
    ['X-Key'],
  );
  assert.deepEqual(await connections.find(accountId, id, 'notes'), third);
  assert.equal(await connections.find('other', id, 'notes'), null);
  assert.equal(await connections.remove('other', id, 'notes'), false);
  assert.equal(await connections.remove(accountId, id, 'notes'), true);
  assert.equal(await connections.remove(accountId, id, 'notes'), false);
  assert.deepEqual(await rowsOf('connection_headers', id), []);
  const again = await connections.put(change(id), 3);
  assert.ok(typeof again === 'object' && again.revision !== third.revision);
});

test('stored headers do not go to another URL, nor to another kind', async () => {
  const id = await agent();
  await connections.put(change(id), 3);
  for (const elsewhere of [
    { url: 'https://evil.example.com/v1' },
    { url: 'https://api.example.com/echo' },
    { kind: 'mcp' },
  ] as const) {
    assert.equal(await connections.put(change(id, { headers: undefined, ...elsewhere }), 3), 'headers_needed');
  }
  const [row] = await connections.ofAgent(accountId, id);
  assert.equal(row!.url, 'https://api.example.com/v1', 'nothing was changed');
  const moved = await connections.put(change(id, { url: 'https://api.example.com/v2', headers: [] }), 3);
  assert.ok(typeof moved === 'object' && moved.headers.length === 0);
});

test('an agent has so many and no more, whoever puts them at once', async () => {
  const id = await agent();
  const other = await another();
  const results = await Promise.all(
    Array.from({ length: 8 }, (_, n) => [store, other][n % 2]!.connections.put(change(id, { name: `c${n}` }), 3)),
  );
  assert.equal(results.filter((result) => result === 'too_many').length, 5);
  const [one] = await connections.ofAgent(accountId, id);
  assert.ok(typeof (await connections.put(change(id, { name: one!.name }), 3)) === 'object', 'one of them is changed');
});

test('the host sees what is enabled of agents that are there, and nothing else', async () => {
  const [id, other] = [await agent(), await agent()];
  await connections.put(change(id), 3);
  await connections.put(change(id, { name: 'off', enabled: false }), 3);
  await connections.put(change(other, { name: 'theirs' }), 3);
  assert.deepEqual(
    (await connections.usable(id)).map(({ name }) => name),
    ['notes'],
  );
  assert.equal((await connections.usableOne(id, 'notes'))?.name, 'notes');
  for (const name of ['off', 'theirs', 'nothing']) assert.equal(await connections.usableOne(id, name), null, name);
  await store.agents.markDeleted(accountId, id);
  assert.deepEqual(await connections.usable(id), []);
  assert.equal(await connections.usableOne(id, 'notes'), null);
  assert.equal(await connections.put(change(id), 3), 'no_agent');
  assert.equal(await connections.put(change('no-such-agent'), 3), 'no_agent');
  assert.equal(await connections.put(change(other, { accountId: 'other' }), 3), 'no_agent');
});

test('an agent that is deleted takes its connections and their headers along', async () => {
  const id = await agent();
  await connections.put(change(id), 3);
  await store.agents.markDeleted(accountId, id);
  await store.agents.lease(id, 'h', 60_000);
  await store.agents.finishDelete(id, 'h');
  for (const table of ['connections', 'connection_headers']) assert.deepEqual(await rowsOf(table, id), [], table);
});

test('a change of the master key finds the headers', async () => {
  const id = await agent();
  await connections.put(change(id), 3);
  const found = (await store.secrets.notUnder('new.', 1_000)).find(({ id: key }) => key[0] === id)!;
  assert.deepEqual(
    [found.place, found.context],
    ['connection_headers.sealed', connectionHeaderContext(id, 'notes', 'Authorization')],
  );
  await store.secrets.replace(found, 'new.sealed');
  assert.equal((await connections.usableOne(id, 'notes'))?.headers[0]?.sealed, 'new.sealed');
});

test('what was done is an event', async () => {
  const id = await agent();
  await connections.put(change(id), 3);
  await connections.remove(accountId, id, 'notes');
  const events = await execute<{ type: string; data: object }>(
    database.connectionString,
    `select type, data from events where agent_id = '${id}' and type like 'connection.%' order by id`,
  );
  assert.deepEqual(events, [
    { type: 'connection.put', data: { connection: 'notes', kind: 'http', enabled: true } },
    { type: 'connection.removed', data: { connection: 'notes' } },
  ]);
  assert.doesNotMatch(JSON.stringify(events), /sealed/);
});

const eventsOf = (agentId: string) =>
  execute(
    database.connectionString,
    `select data from events where agent_id = '${agentId}' and type = 'connection.answer_refused' order by id`,
  );
const refused = (count: number, disabled: boolean) => ({ data: { connection: 'notes', count, disabled } });

test('the third answer with a credential within an hour disables the connection, whoever counts, until it is put again', async () => {
  const agentId = await agent();
  const put = async () => {
    const row = await connections.put(change(agentId), 3);
    assert.ok(typeof row === 'object');
    return { agentId, connection: 'notes', revision: row.revision };
  };
  const of = await put();
  await connections.echoed(of);
  await execute(
    database.connectionString,
    `update connections set echoed_at = '{"2020-01-01"}' where agent_id = '${agentId}'`,
  );
  const second = await another();
  await Promise.all([connections.echoed(of), second.connections.echoed(of)]);
  assert.ok((await connections.usableOne(agentId, 'notes')) !== null, 'one is older than an hour');
  await Promise.all(Array.from({ length: 4 }, () => second.connections.echoed(of)));
  assert.deepEqual(await eventsOf(agentId), [
    refused(1, false),
    refused(1, false),
    refused(2, false),
    refused(3, true),
  ]);
  assert.equal(await connections.usableOne(agentId, 'notes'), null);
  const row = await connections.find(accountId, agentId, 'notes');
  assert.match(row!.statusReason!, /^Disabled: answers of the server held this connection's credential\./);
  const again = await put();
  await connections.echoed(of);
  const enabled = await connections.usableOne(agentId, 'notes');
  assert.deepEqual([enabled?.revision, enabled?.statusReason], [again.revision, null]);
  await connections.echoed(again);
  assert.deepEqual((await eventsOf(agentId)).at(-1), refused(1, false));
});
