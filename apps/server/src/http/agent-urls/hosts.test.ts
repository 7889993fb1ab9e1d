/**
 * Agents' addresses over HTTP: their bounds, the look-ups that strangers cause, and the parts of a client's request that
 * reach the guest.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, test } from 'node:test';
import { cryptography } from '@lodge/access';
import type { AgentRuntime } from '@lodge/ports';
import { FakeHost } from '@lodge/vm/fake';
import { WebSocket, WebSocketServer } from 'ws';
import { guestRuntime, noTroubles } from '../../../../../packages/testkit/src/plane/guest-runtime.ts';
import { openApp } from '../../../../../packages/testkit/src/plane/http/open-app.ts';
import type { AppOptions } from '../app.ts';

const { apiKeys, tokens } = cryptography;

/** A guest that answers at once, except for requests for /slow. */
const seen: IncomingMessage[] = [];
const guest = createServer((request, response) => {
  seen.push(request);
  if (request.url === '/slow') response.writeHead(200).write('begun');
  else response.end('guest');
});
const sockets = new WebSocketServer({ server: guest, handleProtocols: (offers) => [...offers][0] ?? false });
sockets.on('connection', (_socket, request) => seen.push(request));
await once(guest.listen(0, '0.0.0.0'), 'listening');
const guestPort = (guest.address() as AddressInfo).port;

/** Its guests answer on this machine. */
class LocalHost extends FakeHost {
  private made = 1;

  override newAddress(): string {
    this.made += 1;
    return `127.0.1.${this.made}`;
  }
}
const host = new LocalHost();
const runtime: AgentRuntime = {
  ...guestRuntime(host, noTroubles()),
  web: (_guest, _facts, _settings, page) => (page === 'gateway' ? { port: guestPort, headers: {} } : null),
};
const looked = { keys: 0, visits: 0, ports: 0 };
let visits: AppOptions['visits'];
const lodge = await openApp({
  machines: true,
  host,
  runtimes: new Map([['runtime_a', runtime]]),
  settings: {
    LODGE_RATE_CALLS: '300',
    LODGE_RATE_ADDRESS: '60',
    // Open connections stay open, however slow the machine is.
    LODGE_CHAT_TIMEOUT_MS: '600000',
  },
  api(usual) {
    ({ visits } = usual);
    return { ...usual, verifier: countKeys(usual), ...countPlaces(usual) };
  },
});
const key = await lodge.key('all');
const id = await lodge.running();
assert.equal(
  (await lodge.call('POST', `/v1/agents/${id}/ports`, { body: { port: guestPort, public: true } })).status,
  201,
);
const cookie = `lodge_visit=${await visit()}`;
const listening = Number(new URL(lodge.baseUrl).port);
after(async () => {
  await lodge.close();
  guest.closeAllConnections();
  guest.close();
});

async function visit(): Promise<string> {
  const [made] = await lodge.sql("select id from api_keys where name = 'test'");
  const page = { agentId: id, port: null };
  const by = { kind: 'api_key', id: String(made!['id']) } as const;
  const times = { linkSeconds: 60, visitSeconds: 600 };
  const to = { ...page, accountId: lodge.accountId, by, path: '/', ...times };
  const { token } = await visits.createLink({ ...to, page: 'gateway' });
  return (await visits.openLink(page, token))!.token;
}

function countKeys({ verifier }: AppOptions): AppOptions['verifier'] {
  return {
    verify(presented) {
      looked.keys += 1;
      return verifier.verify(presented);
    },
  };
}

function countPlaces({ ports, visits }: AppOptions): Pick<AppOptions, 'ports' | 'visits'> {
  return {
    ports: {
      ...ports,
      find(...given) {
        looked.ports += 1;
        return ports.find(...given);
      },
    },
    visits: {
      ...visits,
      visit(...given) {
        looked.visits += 1;
        return visits.visit(...given);
      },
    },
  };
}
const gateway = `openclaw-${id}.agents.localhost`;
const open = `${guestPort}-${gateway}`;

interface Answer {
  readonly status: number;
  readonly code: string | undefined;
}

function begin(host: string, path: string, headers: OutgoingHttpHeaders = {}): ClientRequest {
  const all = { host: `${host}:${listening}`, ...headers };
  return httpRequest({ host: '127.0.0.1', port: listening, path, agent: false, headers: all }).end();
}

async function ask(host: string, headers: OutgoingHttpHeaders = {}): Promise<Answer> {
  const [reply] = (await once(begin(host, '/', headers), 'response')) as [IncomingMessage];
  const body = await text(reply);
  return { status: reply.statusCode!, code: body.startsWith('{') ? JSON.parse(body).error.code : undefined };
}

/** Requests that stay open; refused ones are left out. */
async function hold(count: number, host: string, headers?: OutgoingHttpHeaders): Promise<ClientRequest[]> {
  const begun = Array.from({ length: count }, async () => {
    const request = begin(host, '/slow', headers).on('error', () => undefined);
    const [reply] = (await once(request, 'response')) as [IncomingMessage];
    reply.on('error', () => undefined).resume();
    return reply.statusCode === 200 ? request : null;
  });
  return (await Promise.all(begun)).filter((request) => request !== null);
}

test('strangers who hold every place of a public port keep neither the owner out nor another network', async () => {
  const held = await hold(150, open);
  assert.ok(held.length >= 16 && held.length <= 128, `${held.length} are held`);
  assert.deepEqual(await ask(open), { status: 503, code: 'agent_unavailable' }, 'one more of them');
  assert.equal((await ask(gateway, { 'x-api-key': key })).status, 200);
  assert.equal((await ask(gateway, { cookie, 'sec-fetch-site': 'none' })).status, 200);
  // The same holds the other way round.
  const owners = await hold(256, gateway, { 'x-api-key': key });
  assert.equal(owners.length, 256);
  assert.deepEqual(await ask(gateway, { 'x-api-key': key }), { status: 503, code: 'agent_unavailable' });
  for (const request of held) request.destroy();
  for (let i = 0; (await ask(open)).status !== 200; i += 1) {
    assert.ok(i < 100, 'places come free again');
    await sleep(200);
  }
  for (const request of owners) request.destroy();
});

test('an API key that a client offers as a subprotocol reaches no guest; other offers do', async () => {
  const address = `ws://127.0.0.1:${listening}/`;
  const cases: readonly (readonly [string[], string | undefined])[] = [
    [[`bearer.${key}`, 'chat'], 'chat'],
    [['chat', `bearer.${key}`, 'chat.v2'], 'chat, chat.v2'],
    [[`x${key}`, 'bearer.of-the-guest'], 'bearer.of-the-guest'],
    [['chat', 'superchat'], 'chat, superchat'],
  ];
  for (const [offers, reached] of cases) {
    const socket = new WebSocket(address, offers, { headers: { host: `${open}:${listening}` } });
    await once(socket, 'open');
    assert.equal(seen.at(-1)!.headers['sec-websocket-protocol'], reached);
    assert.ok(!JSON.stringify(seen.at(-1)!.rawHeaders).includes(key));
    socket.terminate();
  }
  const alone = begin(open, '/', {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol': `bearer.${key}`,
  });
  const [, socket] = (await once(alone, 'upgrade')) as [IncomingMessage, { destroy(): void }];
  assert.ok(!JSON.stringify(seen.at(-1)!.rawHeaders).includes('lodge_live_'));
  socket.destroy();
});

test('what strangers make up is looked up no more than their address may ask', async () => {
  const guesses: Record<string, () => OutgoingHttpHeaders> = {
    keys: () => ({ 'x-api-key': apiKeys.make() }),
    visits: () => ({ cookie: `lodge_visit=${tokens.make()}` }),
  };
  for (const [kind, headers] of Object.entries(guesses)) {
    const before = looked.keys + looked.visits;
    const began = performance.now();
    const answers = await Promise.all(Array.from({ length: 400 }, () => ask(gateway, headers())));
    const seconds = (performance.now() - began) / 1000;
    const count = looked.keys + looked.visits - before;
    assert.ok(count <= 60 + 40 + 12 * seconds, `${count} look-ups of ${kind} in ${seconds} s`);
    assert.ok(answers.filter(({ status }) => status === 429).length >= 250, kind);
    assert.equal((await ask(gateway, { 'x-api-key': key })).status, 200, 'a good key passes');
    assert.equal((await ask(gateway, { cookie, 'sec-fetch-site': 'none' })).status, 200, 'and a visit');
  }
});

test('a port is looked up for strangers no more often than their address may call', async () => {
  const ports = looked.ports;
  const began = performance.now();
  const answers: Answer[] = [];
  for (let i = 0; i < 8; i += 1) {
    answers.push(...(await Promise.all(Array.from({ length: 100 }, () => ask(`3000-${gateway}`)))));
  }
  const seconds = (performance.now() - began) / 1000;
  const count = looked.ports - ports;
  assert.ok(count <= 300 + 5 * (seconds + 2), `${count} look-ups in ${seconds} s`);
  assert.ok(answers.every(({ status }) => status === 401 || status === 429));
});
