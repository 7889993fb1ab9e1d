/** A hostile relay process' calls to its control plane: over a real socket, with real Postgres. */
import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openSecretBox } from '@lodge/access';
import { createChannelFiles } from '@lodge/channels/files';
import { openedStore } from '@lodge/channels/relay';
import { defaultAccess, defaultLifecycle, makeAgentId } from '@lodge/domain';
import { channelCredentialContext, LeaseLost, NoRoomError } from '@lodge/ports';
import type { InboundMessage } from '@lodge/ports';
import { execute, testDatabase } from '@lodge/testkit/postgres';
import { Channel } from '@lodge/vm/channel';
import { Calls } from '../client/calls.ts';
import { remoteFiles } from '../client/remote-files.ts';
import { remoteStore } from '../client/remote-store.ts';
import { maxCallsUnderWay, serveRelay } from './serve.ts';
import { firstAccount } from '../../../../../packages/store/src/testing/fixture.ts';
import { openTestStore } from '../../../../../packages/store/src/testing/agents-fixture.ts';

const database = await testDatabase();
const log = { debug() {}, info() {}, warn() {}, error() {} };
const store = await openTestStore({ ...database, log });
const secrets = await openSecretBox(store.secrets, randomBytes(32));
const accountId = await firstAccount(store.database);
const folder = await mkdtemp(join(tmpdir(), 'lodge-serve-'));
const filesDir = join(folder, 'files');
const files = createChannelFiles(filesDir);
const sockets: Socket[] = [];
after(async () => {
  for (const socket of sockets) socket.destroy();
  await store.close();
  await database.drop();
  await rm(folder, { recursive: true });
});

async function agentWithChannel(token: string): Promise<string> {
  const id = makeAgentId(randomInt);
  const made = { id, accountId, name: 'bot', description: null, runtimeKind: 'runtime_a', model: 'm/m' } as const;
  const rest = { size: 'small', lifecycle: defaultLifecycle, metadata: {}, llmKeys: [] } as const;
  await store.agents.create({ ...made, ...rest }, () => undefined);
  const sealed = secrets.seal(token, channelCredentialContext(id, 'telegram', 'botToken'));
  const access = { ...defaultAccess, mode: 'open' } as const;
  const put = { accountId, agentId: id, channel: 'telegram', enabled: true, access } as const;
  await store.channels.put({ ...put, credentials: [{ name: 'botToken', sealed, last4: '' }] });
  return id;
}

/** A process for Telegram, and its view of the channel. */
async function process(): Promise<{ readonly channel: Channel; readonly calls: Calls }> {
  const path = join(folder, randomBytes(6).toString('hex'));
  const server = createServer((socket) => {
    sockets.push(socket);
    const channel = new Channel(socket, { peer: 'relay' });
    const opened = openedStore(store.relay, secrets);
    const notices = store.mailboxNotices;
    serveRelay(channel, { store: opened, notices, files, name: 'r', channels: ['telegram'], leaseMs: 60_000, log });
    channel.open();
    server.close();
  });
  server.listen(path);
  await once(server, 'listening');
  const socket = connect(path);
  sockets.push(socket);
  await once(socket, 'connect');
  const channel = new Channel(socket, { peer: 'relayKeeper' });
  const calls = new Calls(channel);
  return { channel, calls };
}

const inbound = (id: string, text = 'hello'): InboundMessage => ({
  id,
  conversation: { id: 'c1', kind: 'direct', title: null },
  sender: { id: 's1', name: 'Ann', isBot: false },
  addressed: true,
  text,
  sentAt: new Date(),
  files: [],
  replyTo: null,
});
const refused = { name: 'RangeError' };

test('it has in the clear what it holds, the database has it sealed, and a channel of another relay is not there', async () => {
  const theirs = await agentWithChannel('1:another');
  const [other] = await store.relay.acquire({ relay: 'other', channels: ['telegram'], limit: 9, leaseMs: 600_000 });
  assert.equal(other!.agentId, theirs);
  const ours = await agentWithChannel('2:token');
  const { channel, calls } = await process();
  const remote = remoteStore(channel, calls);
  channel.open();
  const leases = await remote.acquire({ relay: '', channels: [], limit: 9, leaseMs: 1 });
  assert.deepEqual(
    leases.map(({ agentId, credentials }) => [agentId, credentials]),
    [[ours, { botToken: '2:token' }]],
  );
  const [lease] = leases;
  assert.equal(await remote.admits(lease!, inbound('m0')), true);
  await remote.keep(lease!, { session: 'kept secret' });
  await remote.vaultSet(lease!, [{ type: 't', id: '1', value: 'vault secret' }], [inbound('m1')]);
  assert.deepEqual(await remote.vaultGet(lease!, 't', ['1', '2']), { 1: 'vault secret' });
  const rows = await execute<{ sealed: string }>(
    database.connectionString,
    `select sealed from channel_credentials union all select sealed from channel_vault`,
  );
  assert.equal(rows.length, 4);
  assert.ok(!rows.some(({ sealed }) => sealed.includes('secret')));
  // The other lease has the same number, which names nothing here.
  const forged = { ...other!, credentials: null };
  await assert.rejects(async () => remote.vaultGet(forged, 't', ['1']), LeaseLost);
  for (const handle of [2, 3, 1_000]) {
    await assert.rejects(calls.call('receive', { lease: handle, messages: [inbound('x')], cursor: null }), LeaseLost);
    await assert.rejects(calls.call('keep', { lease: handle, credentials: { botToken: 'forged' } }), LeaseLost);
    assert.deepEqual(await calls.call('partsToSend', { leases: [handle], limit: 9 }), []);
  }
  assert.deepEqual(await store.channels.messages({ accountId, agentId: theirs, limit: 9 }), []);
});

test('messages of many bytes come in parts, each taken up once', async () => {
  const agentId = await agentWithChannel('3:token');
  const { channel, calls } = await process();
  const remote = remoteStore(channel, calls);
  channel.open();
  const lease = (await remote.acquire({ relay: '', channels: [], limit: 9, leaseMs: 1 })).find(
    (each) => each.agentId === agentId,
  )!;
  const messages = Array.from({ length: 12 }, (_, n) => inbound(`m${n}`, 'é'.repeat(60_000) + '\n'.repeat(4_000)));
  for (let times = 0; times < 2; times += 1) await remote.receive(lease, messages, { at: times });
  const kept = await store.channels.messages({ accountId, agentId, limit: 50 });
  assert.deepEqual([kept.length, kept[0]!.text.length], [12, 64_000]);
});

const kept = async (): Promise<string[]> =>
  (await readdir(filesDir, { recursive: true })).filter((name) => name.includes('/'));

test('it writes files and reads those alone that it is to send', async () => {
  const agentId = await agentWithChannel('4:token');
  const { channel, calls } = await process();
  const remote = remoteFiles(calls);
  const leases = remoteStore(channel, calls);
  channel.open();
  await leases.acquire({ relay: '', channels: [], limit: 9, leaseMs: 1 });
  const owner = { accountId, agentId, way: 'in' } as const;
  const { signal } = new AbortController();
  const bytes = async function* (length: number) {
    yield Buffer.alloc(length, 'a');
  };
  const own = await remote.write(owner, bytes(700_000), 800_000, signal);
  assert.equal(own.bytes, 700_000);
  await assert.rejects(remote.write(owner, bytes(900_000), 800_000, signal), refused);
  const stranger = { ...owner, agentId: 'nobodyhasit0' };
  await assert.rejects(remote.write(stranger, bytes(3), 9, signal), 'files of an agent that it does not hold');
  assert.deepEqual(await kept(), [own.key], 'nothing is left of what is too large');
  const { key: theirs } = await files.write(owner, bytes(3), 3, signal);
  const firstOf = async (file: string) => remote.read(file)[Symbol.asyncIterator]().next();
  for (const each of [theirs, own.key, '../x']) await assert.rejects(firstOf(each), refused);
  await assert.rejects(remote.remove(theirs), refused);
  await assert.rejects(calls.call('fetched', { lease: 1, file: 'f', key: theirs, bytes: 3 }), refused);
  await remote.remove(own.key);
  assert.deepEqual(await kept(), [theirs]);
});

test('an agent has two files under way, whatever a relay asks for, and others theirs; one that was sent is gone', async () => {
  const agents = [await agentWithChannel('6:token'), await agentWithChannel('7:token')] as const;
  const { channel, calls } = await process();
  const remote = remoteStore(channel, calls);
  channel.open();
  const leases = await remote.acquire({ relay: '', channels: [], limit: 50, leaseMs: 1 });
  const [lease] = leases.filter(({ agentId }) => agentId === agents[0]);
  const begin = (agentId: string): Promise<string> => calls.call('openWrite', { agentId, maxBytes: 9 });
  const [first] = [await begin(agents[0]), await begin(agents[0])];
  await assert.rejects(begin(agents[0]), NoRoomError);
  await begin(agents[1]);
  await calls.call('dropWrite', { transfer: first });
  const transfer = await begin(agents[0]);
  await calls.call('write', { transfer, piece: 'YWJj' });
  await calls.call('endWrite', { transfer });
  await begin(agents[0]);

  await remote.receive(lease!, [inbound('with a file')]);
  const claims = await store.channelTurns.claim({ holder: 'h', limit: 50, perAgent: 9, leaseMs: 60_000 });
  const bytes = async function* () {
    yield Buffer.from('abc');
  };
  const out = { accountId, agentId: agents[0], way: 'out' } as const;
  const file = await files.write(out, bytes(), 3, new AbortController().signal);
  await store.channelTurns.answer(
    claims.find(({ agentId }) => agentId === agents[0])!,
    { outcome: 'answered', reason: null, answer: { text: '', files: [{ ...file, name: 'a', mediaType: 'm/m' }] } },
  );
  const [part] = await remote.partsToSend([lease!], 9);
  assert.ok(await remote.sending(lease!, part!.id));
  assert.ok((await kept()).includes(file.key));
  await remote.sent(lease!, part!.id, 'p1');
  assert.ok(!(await kept()).includes(file.key));
});

test('what is no call is refused by name; what is no message, too much or too many end its channel', async () => {
  const { channel, calls } = await process();
  channel.open();
  const call = calls.call.bind(calls) as (method: string, args: unknown) => Promise<unknown>;
  for (const [method, args] of [
    ['constructor', {}],
    ['prune', {}],
    ['acquire', { limit: 51 }],
    ['acquire', { limit: 1, channels: ['whatsapp'] }],
    ['receive', { lease: 1, messages: [{ id: 1 }] }],
    ['changed', { lease: 1, state: { status: 'paid' }, code: null }],
    ['split', { lease: 1, part: 'p', parts: Array.from({ length: 101 }, () => ({ text: 't', format: null })) }],
    ['tellNotices', { addresses: ['x'.repeat(400)] }],
  ] as const)
    await assert.rejects(call(method, args), refused, method);
  const endings: readonly ((socket: Channel) => void)[] = [
    (own) => own.send({ kind: 'call', id: -1 }),
    (own) => own.send({ kind: 'handover' }),
    (own) => {
      for (let id = 0; id <= maxCallsUnderWay; id += 1)
        own.send({ kind: 'call', id, method: 'tellNotices', args: { addresses: ['a@example.com'] } });
    },
  ];
  for (const end of endings) {
    const { channel: own } = await process();
    own.open();
    end(own);
    await own.ended;
  }
});

test('what it keeps comes back within a message, and no more of it is held than that', async () => {
  const agentId = await agentWithChannel('5:token');
  const { channel, calls } = await process();
  const remote = remoteStore(channel, calls);
  channel.open();
  const lease = (await remote.acquire({ relay: '', channels: [], limit: 50, leaseMs: 1 })).find(
    (each) => each.agentId === agentId,
  )!;
  const large = 'x'.repeat(1_000_000);
  await assert.rejects(remote.moveTo(lease, { large }), refused);
  await assert.rejects(remote.keep(lease, { botToken: large }), refused);
  const ids = Array.from({ length: 13 }, (_, at) => String(at));
  for (const id of ids) await remote.vaultSet(lease, [{ type: 't', id, value: large }]);
  assert.deepEqual(Object.keys(await remote.vaultGet(lease, 't', ids.slice(0, 8))), ids.slice(0, 8));
  await assert.rejects(remote.vaultGet(lease, 't', ids), refused);
});
