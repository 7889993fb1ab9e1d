/** The tools as guests reach them: the broker on loopback, agents that are loopback addresses, and the official client. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createBroker } from '@lodge/broker';
import type { Broker } from '@lodge/broker';
import { createAgentTools, message } from '@lodge/engine';
import type { AgentTools } from '@lodge/engine';
import type { BrokerAgent } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import { FakeHost } from '@lodge/vm/fake';
import { Agent, fetch } from 'undici';
import { MemoryFiles, noGuestFiles } from '../../../../packages/testkit/src/plane/channels.ts';
import { never, running, silent, startPlane, World } from '../../../../packages/testkit/src/plane/plane.ts';
import type { Plane } from '../../../../packages/testkit/src/plane/plane.ts';
import { RelayHand } from '../../../../packages/testkit/src/plane/relay-hand.ts';
import { ScriptedGateway } from '../../../../packages/testkit/src/plane/scripted-gateway.ts';
import { createToyRuntime } from '../../../../packages/testkit/src/plane/toy-runtime/toy-runtime.ts';
import { createToolsDoor } from './door.ts';

const addresses = { a: '127.0.0.2', b: '127.0.0.3' } as const;
type Name = keyof typeof addresses;

const gateway = new ScriptedGateway();
const agents: Record<Name, AgentRow> = {} as never;
const logged: string[] = [];
const dispatchers = new Map<string, Agent>();
let world: World;
let plane: Plane;
let relay: RelayHand;
let broker: Broker;
let url: string;
/** Replaces the real tools, while it is set. */
let instead: Pick<AgentTools, 'list' | 'call'> | null = null;

before(async () => {
  world = await World.open();
  plane = await startPlane(world, new FakeHost(), {
    gateway,
    runtimes: new Map([['runtime_a', createToyRuntime(1)]]),
    channels: {},
    schedules: {},
  });
  for (const name of ['a', 'b'] as const) {
    agents[name] = await running(world, plane, { name, model: `p/${name}`, peers: ['*'] });
  }
  relay = await RelayHand.of(world.store, world.accountId, agents.a.id);
  const { spend } = world.store;
  const { engine } = plane;
  const parts = { files: new MemoryFiles(), guestFiles: noGuestFiles, spend, log: silent };
  const tools = createAgentTools({
    dashboardUrl: 'https://lodge.example',
    agents: engine.agents,
    runTurn: engine.runTurn,
    askedTurns: (id) => engine.askedTurns(id),
    schedules: plane.schedules,
    guard: engine.asking,
    database: world.store.database,
    ...parts,
  });
  const door = createToolsDoor(
    { list: (...given) => (instead ?? tools).list(...given), call: (...given) => (instead ?? tools).call(...given) },
    '1.2.3',
  );
  const error = (fields: object, text: string): void =>
    void logged.push(JSON.stringify([text, String(Object.values(fields))]));
  broker = createBroker({
    directory: { byAddress: async (address) => brokerAgent(address) },
    ledger: { open: async () => null, close: async () => undefined },
    secrets: { seal: () => '', open: () => '', fingerprint: () => '' },
    providers: [],
    doors: { mcp: door },
    log: { ...silent, error },
  });
  const { port } = await broker.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${port}`;
});
after(async () => {
  await Promise.all([...dispatchers.values()].map((dispatcher) => dispatcher.destroy()));
  await broker?.close();
  await plane?.end();
  await world?.close();
});
beforeEach(() => {
  instead = null;
  logged.length = 0;
  gateway.scripts.clear();
});

function brokerAgent(address: string): BrokerAgent | null {
  const name = (['a', 'b'] as const).find((each) => addresses[each] === address);
  if (name === undefined) return null;
  const { id: agentId, accountId, runtimeKind, model } = agents[name];
  return {
    agentId,
    accountId,
    runtimeKind,
    model,
    sealedKeys: {},
    keepsContents: false,
    models: null,
    spendLimited: false,
    confirmations: null,
  };
}

function fetchFrom(address: string): typeof globalThis.fetch {
  const dispatcher = dispatchers.get(address) ?? new Agent({ localAddress: address });
  dispatchers.set(address, dispatcher);
  return ((to: string, init: object) => fetch(to, { ...init, dispatcher })) as unknown as typeof globalThis.fetch;
}

async function clientOf(name: Name): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { fetch: fetchFrom(addresses[name]) }));
  return client;
}

const post = (body: string | Buffer, headers: Record<string, string> = {}, path = '/mcp', from: string = addresses.a) =>
  fetchFrom(from)(url + path, {
    method: 'POST',
    body: body as string,
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
  });

const rpc = (method: string, params?: unknown) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

test('the official client lists and calls every tool', async () => {
  await relay.write('hello');
  await relay.answer();
  const client = await clientOf('a');
  assert.deepEqual(client.getServerVersion(), { name: 'lodge', version: '1.2.3' });
  const { tools } = await client.listTools();
  const to = { channel: 'telegram', conversation: 'c1' };
  const calls: Record<string, object> = {
    channels_list: {},
    send_message: { ...to, text: 'hi' },
    send_file: { ...to, path: '/workspace/none.txt' },
    agents_list: {},
    ask_agent: { agent: agents.b.id, message: 'hi' },
    usage_now: {},
    ask_owner: { question: 'Which day?', options: ['Monday'], wait_seconds: 0 },
    schedule_create: { name: 'n', prompt: 'p', in_minutes: 10, ...to },
    schedule_list: {},
    schedule_delete: { id: 'none' },
  };
  assert.deepEqual(
    tools.map(({ name }) => name),
    Object.keys(calls),
  );
  const answers: Record<string, string> = {};
  gateway.scripts.set('a', async () => {
    for (const [name, args] of Object.entries(calls)) {
      const { content } = await client.callTool({ name, arguments: args as Record<string, unknown> });
      answers[name] = (content as [{ readonly text: string }])[0].text;
    }
    return 'done';
  });
  await sayToA();
  assert.match(answers['channels_list']!, /"id":"c1"/);
  assert.match(answers['send_message']!, /"status":"queued"/);
  assert.match(answers['send_file']!, /none\.txt was not sent/);
  assert.match(answers['agents_list']!, new RegExp(agents.b.id));
  assert.equal(answers['ask_agent'], JSON.stringify({ agent: agents.b.id, answer: 'pong' }));
  assert.match(answers['usage_now']!, /"spent_today_usd":"0"/);
  assert.match(answers['ask_owner']!, /"answer":null,"message":"Not answered yet/);
  assert.match(answers['schedule_create']!, /"next_run_at":"20/);
  assert.match(answers['schedule_list']!, /"conversation":"c1"/);
  assert.match(answers['schedule_delete']!, /no such schedule/);
  assert.deepEqual(await relay.answer(), ['hi']);
  await client.close();
});

async function sayToA(): Promise<string> {
  const { id: agentId, accountId } = agents.a;
  const timing = { wake: false, wakeTimeoutMs: 9_000, timeoutMs: 9_000, signal: never } as const;
  const said = message('go');
  const answer = await plane.engine.runTurn({
    agentId,
    accountId,
    member: null,
    conversation: null,
    origin: 'api',
    said,
    ...timing,
  });
  return answer.text();
}

test('who asks is whose address it is, whatever is said', async () => {
  const client = await clientOf('b');
  const args = { channel: 'telegram', conversation: 'c1', text: 'x' };
  const forged = await client.callTool({ name: 'send_message', arguments: { ...args, agent_id: agents.a.id } });
  assert.match(JSON.stringify(forged), /agent_id.*is not a known argument/);
  const meta = { agentId: agents.a.id };
  const own = await client.callTool({ name: 'send_message', arguments: args, _meta: meta });
  assert.match(JSON.stringify(own), /conversation is none/);
  await client.close();
  const stranger = fetchFrom('127.0.0.9')(`${url}/mcp`, { method: 'POST', body: rpc('tools/list') });
  assert.equal((await stranger).status, 403);
  const headers = {
    host: 'evil.example',
    origin: 'http://evil.example',
    'mcp-session-id': 'x',
    authorization: 'Bearer x',
  };
  assert.equal((await post(rpc('tools/list'), headers)).status, 200);
});

test('there is one address, one method, and no stream', async () => {
  const from = fetchFrom(addresses.a);
  const head = { accept: 'text/event-stream' };
  for (const method of ['GET', 'DELETE', 'PUT', 'OPTIONS']) {
    const reply = await from(`${url}/mcp`, { method, headers: head });
    assert.deepEqual([reply.status, reply.headers.get('allow')], [405, 'POST'], method);
    await reply.text();
  }
  for (const path of ['/mcp/x', '/mcp//', '/mcp/..']) {
    const { status } = await from(url + path, { method: 'POST', body: '{}' });
    assert.ok(status === 404, path);
  }
  assert.equal((await post(rpc('ping'), {}, '/mcp?x=1')).status, 200);
});

test('what is no message is refused with a sentence, and nothing of it is logged', async () => {
  const deep = '['.repeat(5_000) + ']'.repeat(5_000);
  const wrong: [string | Buffer, number, RegExp][] = [
    ['', 400, /not JSON/],
    ['{', 400, /not JSON/],
    ['null', 400, /one JSON-RPC message/],
    [`[${rpc('ping')}, ${rpc('ping')}]`, 400, /no batches/],
    [`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":${deep}}}`, 413, /levels/],
    [`{"x":[${'[],'.repeat(9_000)}0]}`, 413, /elements/],
    ['x'.repeat(300 * 1024), 413, /bytes/],
    [Buffer.alloc(3 * 1024 * 1024, 'x'), 413, /bytes/],
    [JSON.stringify({ id: 1, method: 'ping' }), 400, /JSON-RPC/],
    [JSON.stringify({ jsonrpc: '2.0', id: { a: 1 }, method: 'ping' }), 400, /JSON-RPC/],
  ];
  for (const [body, status, words] of wrong) {
    const reply = await post(body);
    assert.equal(reply.status, status, String(body).slice(0, 60));
    assert.match(await reply.text(), words);
  }
  assert.equal((await post(rpc('ping'), { accept: 'text/html' })).status, 406);
  assert.equal((await post(rpc('ping'), { 'content-type': 'text/plain' })).status, 415);
  assert.equal((await post(rpc('ping'), { 'mcp-protocol-version': '1999-01-01' })).status, 400);
  assert.deepEqual(logged, []);
});

test('methods and tools that there are not, and keys of prototypes, are errors of the protocol', async () => {
  const error = async (body: string) => ((await (await post(body)).json()) as { error?: { code: number } }).error?.code;
  for (const method of ['resources/list', 'constructor', '__proto__', 'toString', 'tasks/list']) {
    assert.equal(await error(rpc(method)), -32601, method);
  }
  for (const name of ['constructor', '__proto__', 'nothing']) {
    assert.equal(await error(rpc('tools/call', { name, arguments: {} })), -32602, name);
  }
  assert.ok(await error(rpc('tools/call', { name: 'usage_now', arguments: [] })));
  assert.ok(await error(rpc('tools/call', { name: { length: 1 } })));
  const call = `{"name":"usage_now","arguments":{"__proto__":{"x":1},"constructor":{"prototype":{"y":1}}}}`;
  const reply = await post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${call}}`);
  assert.match(await reply.text(), /is not a known argument|"isError":true/);
  assert.equal(({} as Record<string, unknown>)['x'], undefined);
  assert.equal(({} as Record<string, unknown>)['y'], undefined);
});

test('what fails within tells nothing, and a guest that leaves ends its call and is no error', async () => {
  instead = { list: () => Promise.reject(new Error('a secret of the host')), call: async () => null };
  const failed = await post(rpc('tools/list'));
  assert.equal(failed.status, 500);
  assert.doesNotMatch(await failed.text(), /secret/);
  assert.match(logged.splice(0).join(), /secret/);
  const ended = Promise.withResolvers<void>();
  instead.call = (_guest, _name, _args, signal) =>
    new Promise((resolve) =>
      signal.addEventListener('abort', () => {
        ended.resolve();
        resolve(null);
      }),
    );
  const left = fetchFrom(addresses.a)(`${url}/mcp`, {
    method: 'POST',
    body: rpc('tools/call', { name: 'x' }),
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    signal: AbortSignal.timeout(200),
  });
  await assert.rejects(left);
  await ended.promise;
  // The connection ends in the middle of its body.
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress: addresses.a });
  socket.write('POST /mcp HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{');
  await new Promise((resolve) => setTimeout(resolve, 100));
  socket.destroy();
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.deepEqual(logged, []);
});

test('a guest that floods is told so, and the other one is answered', async () => {
  const body = rpc('tools/call', { name: 'usage_now' });
  const statuses = async () => {
    const reply = await post(body);
    await reply.text();
    return reply.status;
  };
  const replies: number[] = [];
  for (let n = 0; n < 30; n += 1) replies.push(...(await Promise.all(Array.from({ length: 6 }, statuses))));
  assert.ok(replies.includes(429));
  assert.ok(replies.every((status) => status === 200 || status === 429));
  const client = await clientOf('b');
  await client.close();
});

test('a list of tools has at most 512 KiB, and others are served while it is written', async () => {
  const large = {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 700 }, (_, n) => [`p${n}`, { enum: [n] }])),
  };
  const offered = Array.from({ length: 256 }, (_, n) => ({
    name: `t${n}`,
    description: '"tools":[]',
    inputSchema: large,
  }));
  instead = { list: async () => offered, call: async () => null };
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  const asked = JSON.stringify({ jsonrpc: '2.0', id: '"tools":[]', method: 'tools/list' });
  // The other guest has used up its allowance.
  const reply = await post(asked, {}, '/mcp', addresses.b);
  const text = await reply.text();
  isOver = true;
  assert.ok(text.length > 400 * 1024 && text.length < 520 * 1024, `${text.length} bytes`);
  const { id, result } = JSON.parse(text) as { id: string; result: { tools: typeof offered } };
  assert.equal(id, '"tools":[]');
  assert.deepEqual(result.tools[0], offered[0]);
  assert.ok(turns > 3, `${turns} loop turns`);
});
