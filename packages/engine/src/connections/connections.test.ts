import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal, connectionBounds } from '@lodge/domain';
import { connectionHeaderContext } from '@lodge/ports';
import { execute } from '@lodge/testkit/postgres';
import type { ConnectionInput } from './input.ts';
import { testConnections } from './test-connections.ts';

const { store, connections, directory, accountId, another, agent, opened, connectionString } = await testConnections();
const input = (given: Partial<ConnectionInput> = {}): ConnectionInput => ({
  name: 'notes',
  kind: 'http',
  url: 'https://api.example.com/v1',
  allow: [{ methods: ['GET'], paths: ['/notes/*'] }],
  tools: null,
  enabled: true,
  auth: undefined,
  headers: { Authorization: 'Bearer one two 1234' },
  ...given,
});
const put = (agentId: string, given?: Partial<ConnectionInput>) => connections.put(accountId, agentId, input(given));
const rowsOf = (table: string, agentId: string) =>
  execute(connectionString, `select * from ${table} where agent_id = '${agentId}'`);
const refusedWith = (code: string, words?: RegExp) => (error: unknown) =>
  error instanceof Refusal && error.code === code && (words?.test(error.message) ?? true);

test('a connection is put, changed and removed; headers that are left out stay', async () => {
  const id = await agent();
  const first = await put(id);
  assert.deepEqual(first.allow, [{ methods: ['GET'], paths: ['/notes/*'] }]);
  const second = await put(id, { headers: undefined, enabled: false });
  assert.notEqual(second.revision, first.revision);
  assert.deepEqual(
    second.headers.map(({ name, sealed, last4 }) => [
      name,
      opened(sealed, connectionHeaderContext(id, 'notes', name)),
      last4,
    ]),
    [['Authorization', 'Bearer one two 1234', '1234']],
  );
  const third = await put(id, { headers: { 'X-Key': 'two' } });
  assert.deepEqual(
    third.headers.map(({ name }) => name),
    ['X-Key'],
  );
  assert.deepEqual(await connections.find(accountId, id, 'notes'), third);
  await assert.rejects(connections.find('other', id, 'notes'), refusedWith('agent_not_found'));
  await assert.rejects(connections.remove('other', id, 'notes'), refusedWith('agent_not_found'));
  await connections.remove(accountId, id, 'notes');
  await assert.rejects(connections.remove(accountId, id, 'notes'), refusedWith('connection_not_found'));
  assert.deepEqual(await rowsOf('connection_headers', id), []);
  assert.notEqual((await put(id)).revision, third.revision);
});

test('stored headers do not go to another URL, nor to another kind', async () => {
  const id = await agent();
  await put(id);
  for (const elsewhere of [
    { url: 'https://evil.example.com/v1' },
    { url: 'https://api.example.com/echo' },
    { kind: 'mcp', allow: undefined },
  ] as const) {
    const refused = refusedWith('invalid_request', /^headers must be given again/);
    await assert.rejects(put(id, { headers: undefined, ...elsewhere }), refused);
  }
  const [row] = await connections.list(accountId, id);
  assert.equal(row!.url, 'https://api.example.com/v1', 'nothing was changed');
  const moved = await put(id, { url: 'https://api.example.com/v2', headers: {} });
  assert.equal(moved.headers.length, 0);
});

test('an agent has so many and no more, whoever puts them at once', async () => {
  const id = await agent();
  const other = await another();
  await execute(
    connectionString,
    `insert into connections (account_id, agent_id, name, kind, url, allow, enabled)
     select '${accountId}', '${id}', 'has' || n, 'mcp', 'https://mcp.example.com', '[]', true
     from generate_series(1, ${connectionBounds.perAgent - 3}) n`,
  );
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, (_, n) =>
      [connections, other.connections][n % 2]!.put(accountId, id, input({ name: `c${n}` })),
    ),
  );
  const refused = results.filter((result) => result.status === 'rejected');
  assert.equal(refused.length, 5);
  assert.ok(refused.every(({ reason }) => refusedWith('quota_exceeded')(reason)));
  const [one] = await connections.list(accountId, id);
  await put(id, { name: one!.name });
});

test('the host sees what is enabled of agents that are there, and nothing else', async () => {
  const [id, other] = [await agent(), await agent()];
  await put(id);
  await put(id, { name: 'off', enabled: false });
  await put(other, { name: 'theirs' });
  assert.deepEqual(
    (await directory.usable(id)).map(({ name }) => name),
    ['notes'],
  );
  assert.equal((await directory.usableOne(id, 'notes'))?.name, 'notes');
  for (const name of ['off', 'theirs', 'nothing']) assert.equal(await directory.usableOne(id, name), null, name);
  await store.agents.markDeleted(accountId, id);
  assert.deepEqual(await directory.usable(id), []);
  assert.equal(await directory.usableOne(id, 'notes'), null);
  for (const gone of [id, 'no-such-agent']) await assert.rejects(put(gone), refusedWith('agent_not_found'));
  await assert.rejects(connections.put('other', other, input()), refusedWith('agent_not_found'));
});

test('an agent that is deleted takes its connections and their headers along', async () => {
  const id = await agent();
  await put(id);
  await store.agents.markDeleted(accountId, id);
  await store.agents.lease(id, 'h', 60_000);
  await store.agents.finishDelete(id, 'h');
  for (const table of ['connections', 'connection_headers']) assert.deepEqual(await rowsOf(table, id), [], table);
});

test('a change of the master key finds the headers', async () => {
  const id = await agent();
  await put(id);
  const found = (await store.secrets.notUnder('new.', 1_000)).find(({ id: key }) => key[0] === id)!;
  assert.deepEqual(
    [found.place, found.context],
    ['connection_headers.sealed', connectionHeaderContext(id, 'notes', 'Authorization')],
  );
  await store.secrets.replace(found, 'new.sealed');
  assert.equal((await directory.usableOne(id, 'notes'))?.headers[0]?.sealed, 'new.sealed');
});

test('what was done is an event', async () => {
  const id = await agent();
  await put(id);
  await connections.remove(accountId, id, 'notes');
  const events = await execute<{ type: string; data: object }>(
    connectionString,
    `select type, data from events where agent_id = '${id}' and type like 'connection.%' order by id`,
  );
  assert.deepEqual(events, [
    { type: 'connection.put', data: { connection: 'notes', kind: 'http', enabled: true } },
    { type: 'connection.removed', data: { connection: 'notes' } },
  ]);
});

const eventsOf = (agentId: string) =>
  execute(
    connectionString,
    `select data from events where agent_id = '${agentId}' and type = 'connection.answer_refused' order by id`,
  );
const refused = (count: number, disabled: boolean) => ({ data: { connection: 'notes', count, disabled } });

test('the third answer with a credential within an hour disables the connection, whoever counts, until it is put again', async () => {
  const agentId = await agent();
  const putAgain = async () => ({ agentId, connection: 'notes', revision: (await put(agentId)).revision });
  const of = await putAgain();
  await directory.echoed(of);
  await execute(connectionString, `update connections set echoed_at = '{"2020-01-01"}' where agent_id = '${agentId}'`);
  const second = await another();
  await Promise.all([directory.echoed(of), second.directory.echoed(of)]);
  assert.ok((await directory.usableOne(agentId, 'notes')) !== null, 'one is older than an hour');
  await Promise.all(Array.from({ length: 4 }, () => second.directory.echoed(of)));
  assert.deepEqual(await eventsOf(agentId), [
    refused(1, false),
    refused(1, false),
    refused(2, false),
    refused(3, true),
  ]);
  assert.equal(await directory.usableOne(agentId, 'notes'), null);
  const row = await connections.find(accountId, agentId, 'notes');
  assert.match(row.statusReason!, /^Disabled: answers of the server held this connection's credential\./);
  const again = await putAgain();
  await directory.echoed(of);
  const enabled = await directory.usableOne(agentId, 'notes');
  assert.deepEqual([enabled?.revision, enabled?.statusReason], [again.revision, null]);
  await directory.echoed(again);
  assert.deepEqual((await eventsOf(agentId)).at(-1), refused(1, false));
});
