import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal, connectionBounds } from '@lodge/domain';
import { connectionHeaderContext, connectionSecretContext } from '@lodge/ports';
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

const github = (given: Partial<ConnectionInput> = {}): Partial<ConnectionInput> => ({
  name: 'github',
  kind: 'host',
  url: undefined,
  headers: undefined,
  hosts: ['API.github.com', 'github.com'],
  secrets: { GITHUB_TOKEN: { value: 'ghp_1234567890abcdef', in: ['Authorization'] } },
  ...given,
});
const accessOf = async (id: string) => {
  const [row] = await execute(connectionString, `select host_access from agents where id = '${id}'`);
  return (row as { host_access: unknown }).host_access as {
    hosts: string[];
    variables: Record<string, string>;
    authority: string;
  } | null;
};

test('hosts are put with their secrets, and the machine has names, placeholders and the authority alone', async () => {
  const id = await agent();
  assert.equal(await accessOf(id), null);
  const row = await put(id, github());
  assert.deepEqual([row.hosts, row.url], [['api.github.com', 'github.com'], 'https://api.github.com']);
  const [secret] = row.secrets;
  assert.match(secret!.placeholder, /^lodge-secret-github-token-[0-9a-f]{16}$/);
  assert.deepEqual([secret!.headers, secret!.last4], [['authorization'], 'cdef']);
  assert.equal(opened(secret!.sealed, connectionSecretContext(id, 'github', 'GITHUB_TOKEN')), 'ghp_1234567890abcdef');
  const access = { authority: 'the certificate', variables: { GITHUB_TOKEN: secret!.placeholder } };
  assert.deepEqual(await accessOf(id), { ...access, hosts: ['api.github.com', 'github.com'] });
  const changed = await put(
    id,
    github({ secrets: { GITHUB_TOKEN: { value: 'ghp_other_value_9876', in: ['x-key'] } } }),
  );
  assert.equal(changed.secrets[0]!.placeholder, secret!.placeholder, 'programs that run go on with it');
  await put(id, github({ name: 'npm', hosts: ['registry.npmjs.org'], secrets: {} }));
  assert.deepEqual((await accessOf(id))!.hosts, ['api.github.com', 'github.com', 'registry.npmjs.org']);
  const kept = await put(id, github({ hosts: ['github.com'], secrets: undefined }));
  assert.equal(kept.secrets.length, 1);
  await connections.remove(accountId, id, 'npm');
  assert.deepEqual(await accessOf(id), { ...access, hosts: ['github.com'] });
  await put(id, { name: 'github' });
  assert.deepEqual([await accessOf(id), await rowsOf('connection_secrets', id)], [null, []]);
  await connections.remove(accountId, id, 'github');
});

test('hosts and secrets that would lead elsewhere are refused', async () => {
  const id = await agent();
  await put(id, github());
  const value = 'x'.repeat(20);
  const wrong: readonly (readonly [Partial<ConnectionInput>, RegExp])[] = [
    [{ hosts: [] }, /^hosts is required/],
    [{ hosts: ['1.2.3.4'] }, /^hosts\[0\] must be the name of a host/],
    [{ hosts: ['[::1]'] }, /^hosts\[0\] must be the name/],
    [{ hosts: ['0x7f.1'] }, /^hosts\[0\] must be the name/],
    [{ hosts: ['example.com:443'] }, /^hosts\[0\] must be the name/],
    [{ hosts: ['https://example.com'] }, /^hosts\[0\] must be the name/],
    [{ hosts: ['com'] }, /^hosts\[0\] must be the name/],
    [{ hosts: ['a..example.com'] }, /^hosts\[0\] must be the name/],
    [{ hosts: ['example.com.'] }, /^hosts\[0\] must be the name/],
    [{ hosts: ['a b.example.com'] }, /^hosts\[0\] must be the name/],
    [{ hosts: ['*.co.uk'] }, /^hosts\[0\] must be one whole name, without a wildcard/],
    [{ hosts: ['*.example.com'] }, /^hosts\[0\] must be one whole name/],
    [{ hosts: ['example.com', 'Example.com'] }, /^hosts\[1\] is given twice/],
    [{ hosts: ['lodge.example.com'] }, /^hosts\[0\] is a name of this service/],
    [{ hosts: ['a.localhost'] }, /^hosts\[0\] is a name of this service/],
    [{ name: 'other', secrets: {} }, /^hosts\[0\] is a host of the connection github already/],
    [{ name: 'other', hosts: ['example.com'] }, /^secrets\.GITHUB_TOKEN is a variable of another connection/],
    [{ hosts: ['github.com', 'evil.example'], secrets: undefined }, /^secrets must be given again/],
    [{ secrets: { PATH: { value, in: ['authorization'] } } }, /^secrets\.PATH cannot be the name of a variable/],
    [{ secrets: { A: { value, in: ['host'] } } }, /^secrets\.A\.in\[0\] is a header that Lodge sets/],
    [{ secrets: { A: { value, in: ['x-a', 'Content-Length'] } } }, /^secrets\.A\.in\[1\] is a header/],
    [{ url: 'https://github.com' }, /^url is for kinds mcp and http/],
    [{ headers: { 'X-Key': 'a' } }, /^headers is for kinds mcp and http/],
    [{ allow: [] }, /^allow is required for kind host/],
    [{ kind: 'http', url: 'https://github.com', secrets: undefined }, /^hosts is for kind host/],
    [{ kind: 'http', url: 'https://github.com', hosts: undefined }, /^secrets is for kind host/],
  ];
  for (const [given, message] of wrong)
    await assert.rejects(put(id, github(given)), refusedWith('invalid_request', message), JSON.stringify(given));
});
