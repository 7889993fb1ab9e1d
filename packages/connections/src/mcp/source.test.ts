import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '@lodge/domain';
import type { McpBounds } from '../bounds.ts';
import { startMcpServer } from '../testing/mcp-server.ts';
import type { McpServerOptions, McpTool } from '../testing/mcp-server.ts';
import { known, other, startWorld } from '../testing/world.ts';
import type { TestWorld } from '../testing/world.ts';

const token = 'mark-7Qx9-Zt4Lw2Rk8Vb';
const refused =
  "The server's answer held the credential of this connection, so the answer was refused. The owner of the connection is told.";
const text = (said: string) => ({ content: [{ type: 'text', text: said }] });
const add: McpTool = {
  name: 'add',
  description: 'Adds two numbers.',
  inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
  answer: ({ a, b }) => text(String(Number(a) + Number(b))),
};

let undo: (() => Promise<unknown>)[] = [];
let world: TestWorld;
let tools: readonly McpTool[];
beforeEach(() => {
  tools = [add];
});
afterEach(async () => {
  for (const step of undo.splice(0)) await step();
});

async function start(options: Partial<McpServerOptions> = {}, mcpBounds: Partial<McpBounds> = {}) {
  const server = await startMcpServer({ token, tools: () => tools, ...options });
  world = await startWorld({ mcpBounds: { listMs: 2_000, callMs: 1_000, ...mcpBounds } });
  undo = [() => world.close(), () => server.close()];
  const put = (given: object = {}, address: string = known) =>
    world.put(address, {
      name: 'calc',
      kind: 'mcp',
      url: server.url,
      allow: [],
      headers: { Authorization: `Bearer ${token}` },
      ...given,
    });
  put();
  return { server, put };
}
const loggedLines = () => world.lines.map(({ entry }) => entry.message).filter((line) => line.includes('not listed'));
const agentId = (address: string = known) => world.broker.agentId(address);
const signal = () => AbortSignal.timeout(10_000);
const list = async (address: string = known) => world.parts.tools.tools(agentId(address), signal());
const names = async (address: string = known) => (await list(address)).map(({ name }) => name);
const call = (name: string, args: Json = {}, address: string = known) =>
  world.parts.tools.call({ agentId: agentId(address), accountId: 'a', confirmations: null }, name, args, signal());
const said = async (name: string, args: Json = {}) => {
  const answer = await call(name, args);
  return [answer?.isError, String(answer?.content[0]?.text)] as const;
};

for (const json of [false, true]) {
  test(`tools of a server are listed and called, with its token, by ${json ? 'JSON' : 'events'}`, async () => {
    const { server } = await start({ json });
    assert.deepEqual(await list(), [
      { name: 'calc__add', description: 'Adds two numbers.', inputSchema: add.inputSchema },
    ]);
    assert.deepEqual(await call('calc__add', { a: 2, b: 3 }), {
      content: [{ type: 'text', text: '5' }],
      isError: false,
    });
    assert.ok(server.requests.every(({ authorization }) => authorization === `Bearer ${token}`));
    assert.equal(server.initialized(), 1, 'one session for all of it');
    const lines = world.lines.map(({ entry }) => `${entry.source} ${entry.message}`);
    assert.match(lines.join('\n'), /^egress Connection calc: tool "add" was answered, \d+ ms\.$/);
  });
}

test('a turn does not wait for a server that takes its time; the next one has its tools', async () => {
  let isSlow = true;
  const held: (() => void)[] = [];
  await start(
    {
      instead: (req, res) => {
        if (!isSlow) return false;
        held.push(() => res.writeHead(503).end());
        return true;
      },
    },
    { turnWaitMs: 200, listMs: 1_000, retryMs: 100 },
  );
  const began = performance.now();
  assert.deepEqual(await list(), []);
  assert.ok(performance.now() - began < 900);
  assert.match(loggedLines().join(), /not listed\. Its server takes its time/);
  isSlow = false;
  for (const end of held) end();
  const deadline = performance.now() + 10_000;
  while ((await names()).length === 0 && performance.now() < deadline) await sleep(50);
  assert.deepEqual(await names(), ['calc__add']);
});

test('a name fits with what a runtime puts before it', async () => {
  tools = [
    { ...add, name: 'a'.repeat(120) },
    { ...add, name: 'b'.repeat(46) },
  ];
  await start();
  const [long, whole] = await names();
  assert.deepEqual([long!.length, whole], [52, `calc__${'b'.repeat(46)}`]);
});

test('an agent has the tools of its own connections, those that are allowed and enabled', async () => {
  tools = [add, { ...add, name: 'drop' }];
  const { put } = await start();
  assert.deepEqual(await names(other), []);
  assert.equal(await call('calc__add', {}, other), null);
  put({ tools: ['add'] });
  assert.deepEqual(await names(), ['calc__add']);
  assert.equal(await call('calc__drop'), null);
  assert.equal(await call('calc__nothing'), null);
  assert.equal(await call('nothing__add'), null);
  assert.equal(await call('add'), null);
  put({ enabled: false });
  assert.deepEqual(await names(), []);
  assert.equal(await call('calc__add'), null);
});

test('a server that was started anew is spoken to anew, within the same call', async () => {
  const { server } = await start();
  await call('calc__add', { a: 1, b: 1 });
  server.forget();
  assert.deepEqual(await said('calc__add', { a: 2, b: 2 }), [false, '4']);
  assert.equal(server.initialized(), 2);
});

test('a server that is away costs no turn, and is there again when it is', async () => {
  let away = true;
  await start({ instead: (_req, res) => away && Boolean(res.writeHead(503).end('away')) }, { retryMs: 50 });
  assert.deepEqual(await names(), []);
  assert.deepEqual(await names(), []);
  assert.deepEqual(loggedLines(), ['Connection calc: its tools were not listed. The server answered with status 503.']);
  assert.deepEqual((await call('calc__add'))?.isError, true);
  away = false;
  await sleep(60);
  assert.deepEqual(await names(), ['calc__add']);
  assert.deepEqual(await said('calc__add', { a: 1, b: 2 }), [false, '3']);
});

test('new tools come without a restart; a list that cannot be had anew is used for a while', async () => {
  let away = false;
  await start({ instead: (_req, res) => away && Boolean(res.writeHead(503).end()) }, { freshMs: 20, retryMs: 0 });
  assert.deepEqual(await names(), ['calc__add']);
  tools = [add, { ...add, name: 'more' }];
  await sleep(30);
  await names();
  await sleep(200);
  assert.deepEqual(await names(), ['calc__add', 'calc__more']);
  away = true;
  await sleep(30);
  await names();
  await sleep(100);
  assert.deepEqual(await names(), ['calc__add', 'calc__more']);
});

test('without its token a server has no tools, and what it says of it is not passed on', async () => {
  const { put } = await start();
  put({ headers: { Authorization: 'Bearer wrong-token-of-the-owner' } });
  assert.deepEqual(await names(), []);
  const [isError, sentence] = await said('calc__add');
  assert.equal(isError, true);
  assert.doesNotMatch(sentence, /wrong-token|no token/);
  assert.match(loggedLines().join(), /not listed\. The server of this connection refuses its credentials/);
  assert.doesNotMatch(loggedLines().join(), /wrong-token|no token/);
});

const leaks = {
  leak: () => text(`it is ${token}`),
  leak64: () => text(Buffer.from(`a${token}`).toString('base64')),
  structured: () => ({ content: [], structuredContent: { [token]: token } }),
  fails: () => {
    throw new Error(`bad ${token}`);
  },
} as const;

for (const json of [false, true]) {
  test(`an answer with the token is refused whole, counted, and no session goes on, by ${json ? 'JSON' : 'events'}`, async () => {
    tools = [add, ...Object.entries(leaks).map(([name, answer]) => ({ name, answer }))];
    const { server } = await start({ json });
    for (const [at, name] of Object.keys(leaks).entries()) {
      const [isError, sentence] = await said(`calc__${name}`);
      assert.deepEqual([isError, sentence], [true, refused], name);
      assert.equal(world.echoed.length, at + 1);
      assert.deepEqual(await said('calc__add', { a: 2, b: 2 }), [false, '4'], 'another session');
    }
    assert.equal(server.initialized(), 1 + Object.keys(leaks).length);
    assert.ok(!JSON.stringify([world.lines, world.logged]).includes(token));
  });
}

test('a list with the token is no list', async () => {
  for (const tool of [
    { name: 'leak', description: `Use ${token}.`, answer: () => text('x') },
    { name: token, answer: () => text('x') },
    { name: 'schema', inputSchema: { type: 'object', title: token }, answer: () => text('x') },
  ]) {
    tools = [add, tool];
    await start();
    assert.deepEqual(await names(), []);
    assert.match(loggedLines().join(), /not listed\. The server's answer held the credential/);
    assert.ok(!JSON.stringify([world.lines, world.logged]).includes(token));
    for (const step of undo.splice(0)) await step();
  }
});

test('a text that is written in escapes is looked for as it reads', async () => {
  const escaped = Array.from(token, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`).join('');
  let leaks = '';
  const { put } = await start({
    instead(req, res) {
      if (req.method !== 'POST') return false;
      let body = '';
      req.on('data', (chunk: Buffer) => (body += chunk.toString()));
      req.on('end', () => {
        const { id, method } = JSON.parse(body) as { id?: number; method: string };
        if (id === undefined) return res.writeHead(202).end();
        const results: Record<string, string> = {
          initialize:
            '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}',
          'tools/list': `{"tools":[{"name":"leak","description":"${leaks === method ? escaped : 'x'}","inputSchema":{"type":"object"}}]}`,
          'tools/call': `{"content":[{"type":"text","text":"it is ${leaks === method ? escaped : 'x'}"}]}`,
        };
        res
          .setHeader('content-type', 'application/json')
          .end(`{"jsonrpc":"2.0","id":${id},"result":${results[method]!}}`);
      });
      return true;
    },
  });
  leaks = 'tools/call';
  assert.deepEqual(await said('calc__leak'), [true, refused]);
  leaks = 'tools/list';
  await world.close();
  world = await startWorld();
  put();
  assert.deepEqual(await names(), []);
});

test('names fit every provider, and are told apart', async () => {
  const long = 'x'.repeat(100);
  tools = ['a.b', 'a/b', 'ä', long, `${long}y`, 'plain-1'].map((name) => ({ ...add, name }));
  await start();
  const found = await names();
  assert.equal(new Set(found).size, 6);
  for (const name of found) assert.match(name, /^calc__[A-Za-z0-9_-]{1,58}$/);
  assert.ok(found.includes('calc__plain-1'));
  for (const name of found) assert.deepEqual(await said(name, { a: 1, b: 1 }), [false, '2']);
});

test('a list that is too much is cut to its bounds', async () => {
  const deep = { type: 'object', properties: { a: { type: 'string', description: 'x'.repeat(20_000) } } };
  tools = [
    { ...add, name: 'large', inputSchema: deep },
    { ...add, name: 'talks', description: 'y'.repeat(50_000) },
    ...Array.from({ length: 300 }, (_, n) => ({ ...add, name: `t${n}` })),
  ];
  await start();
  const found = await list();
  assert.equal(found.length, 128);
  assert.ok(!found.some(({ name }) => name === 'calc__large'));
  assert.equal(found[0]!.description.length, 2_000);
});

test('an answer that is too large, too deep or too late is an error, and the next call works', async () => {
  tools = [
    add,
    { name: 'large', answer: () => text('x'.repeat(3 * 2 ** 20)) },
    {
      name: 'many',
      answer: () => ({ content: [], structuredContent: { a: Array.from({ length: 30_000 }, () => 0) } }),
    },
    { name: 'late', answer: () => sleep(3_000, text('late')) },
  ];
  await start();
  for (const name of ['calc__large', 'calc__many', 'calc__late']) {
    const began = performance.now();
    assert.equal((await call(name))?.isError, true, name);
    assert.ok(performance.now() - began < 2_500, name);
    assert.deepEqual(await said('calc__add', { a: 1, b: 1 }), [false, '2'], name);
  }
});

test('a server that redirects, packs its answers or speaks no protocol has no tools', async () => {
  const ways: readonly McpServerOptions['instead'][] = [
    (req, res) => Boolean(res.writeHead(307, { location: `http://${req.headers.host}/other` }).end()),
    (_req, res) => Boolean(res.writeHead(302, { location: 'http://169.254.169.254/' }).end()),
    (_req, res) =>
      Boolean(res.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end('x')),
    (_req, res) => Boolean(res.writeHead(200, { 'content-type': 'application/json' }).end('[[[[')),
    (_req, res) => Boolean(res.writeHead(200, { 'content-type': 'application/json' }).end('['.repeat(100_000))),
    (_req, res) => Boolean(res.writeHead(200, { 'content-type': 'text/html' }).end('<p>')),
  ];
  for (const instead of ways) {
    const { server } = await start({ instead: instead! });
    assert.deepEqual(await names(), []);
    assert.ok(server.requests.length <= 2);
    for (const step of undo.splice(0)) await step();
  }
});

test('a private address is refused', async () => {
  const { server } = await start();
  const guarded = await startWorld({ addresses: 'public' });
  undo.unshift(() => guarded.close());
  for (const url of [server.url, server.url.replace('http:', 'https:')]) {
    guarded.put(known, { name: 'calc', kind: 'mcp', url, headers: { Authorization: `Bearer ${token}` } });
    assert.deepEqual(await guarded.parts.tools.tools(guarded.broker.agentId(known), signal()), []);
  }
  assert.equal(server.requests.length, 0);
});

test('a session is ended with its connection, and at the end of all', async () => {
  const { server, put } = await start();
  await names();
  assert.equal(server.sessions.size, 1);
  put({ headers: { Authorization: `Bearer ${token}`, 'X-More': 'x' } });
  await names();
  for (let tries = 0; !server.requests.some(({ method }) => method === 'DELETE') && tries < 50; tries += 1)
    await sleep(20);
  assert.equal(server.requests.filter(({ method }) => method === 'DELETE').length, 1);
  await world.close();
  undo.shift();
  assert.equal(server.requests.filter(({ method }) => method === 'DELETE').length, 2);
});
