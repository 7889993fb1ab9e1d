/** A session on the real API: what it opens and what ends with it, and that its cookie is worth nothing at an agent's address. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { hostOf, openAddresses } from './agent-addresses.ts';
import { again, invited, ownerOf } from './people.ts';
import type { Person } from './people.ts';

const apiHost = 'lodge.agents.localhost';
const { guest, world, visitor, agentId, close } = await openAddresses({ withGuest: true, apiHost });
after(() => close());
const owner = await ownerOf(world);
const origin = world.origin;
const agentOrigin = `http://${hostOf(agentId)}:${new URL(world.url).port}`;

const terminal = `/v1/agents/${agentId}/terminal`;
const socketOf = (person: Person, headers: Record<string, string>): WebSocket =>
  new WebSocket(`${world.url.replace('http', 'ws')}${terminal}`, ['lodge.terminal'], {
    headers: { cookie: person.cookie, host: new URL(origin).host, ...headers },
  });

/** The status answered to a WebSocket that does not open, or 101. */
async function handshake(headers: Record<string, string>, person = owner): Promise<number> {
  const socket = socketOf(person, headers);
  socket.on('error', () => undefined);
  const outcome = await Promise.race([
    once(socket, 'open').then(() => 101),
    once(socket, 'unexpected-response').then(([, reply]) => (reply.resume(), reply.statusCode as number)),
  ]);
  socket.terminate();
  return outcome;
}

test("a person's agent is made, read and changed by their session, and the log says who did", async () => {
  const person = await invited(owner, 'member');
  const made = await person.call('POST', '/agents', { name: 'Mine', size: 'small' });
  assert.equal(made.status, 201, made.text);
  const path = `/agents/${made.body.id}`;
  assert.equal((await person.call('POST', `${path}/pause`)).status, 200);
  assert.equal((await owner.call('GET', path)).status, 404);
  const { data } = (await person.call('GET', '/audit-events?limit=100')).body;
  const actors = data
    .filter(({ target }: { target: { id: string } | null }) => target?.id === made.body.id)
    .map(({ actor }: { actor: object }) => actor);
  assert.ok(actors.length >= 2);
  for (const actor of actors) assert.deepEqual(actor, { type: 'account', id: person.accountId });
  const answer = await person.call('POST', `${path}/chat/completions?wake=true`, {
    messages: [{ role: 'user', content: 'hello' }],
  });
  assert.equal(answer.status, 200, answer.text);
  assert.equal((await person.call('DELETE', path)).status, 200);
});

test('a terminal opens by the cookie for exactly our origin, whatever headers come beside another', async () => {
  const { host } = new URL(origin);
  const { headers: withToken } = owner;
  for (const wrong of [
    {},
    { origin: 'null' },
    { origin: '' },
    { origin: agentOrigin },
    { origin: agentOrigin, 'sec-fetch-site': 'same-origin', 'x-csrf-token': withToken['x-csrf-token']! },
    { origin: 'http://evil.example' },
    { origin: `http://${host}.evil.example` },
    { origin: `https://${host}` },
    { origin: `http://${apiHost}:1` },
    { origin: `http://${apiHost}` },
    { origin: `${origin}/` },
    { origin: `${origin}, ${agentOrigin}` },
    { origin: 'http://evil.example', host: '127.0.0.1' },
    { origin: agentOrigin, host: '127.0.0.1' },
  ]) {
    assert.equal(await handshake(wrong as Record<string, string>), 403, JSON.stringify(wrong));
  }
  assert.equal(await handshake({ origin }), 101);
  const byAddress = new URL(world.url).host;
  assert.equal(await handshake({ origin: world.url, host: byAddress }), 101, 'under a name that a tunnel gives');
  assert.equal(await handshake({ origin }, await invited(owner, 'viewer')), 403, 'a viewer types nothing');
  assert.equal(await handshake({ origin: agentOrigin, 'x-api-key': world.key }), 101, 'a key is bound to no page');
});

test(
  'a terminal and a followed log end within a second of their session, and others go on',
  { timeout: 30_000 },
  async () => {
    const [leaving, staying] = [await again(world), await again(world)];
    const open = async (person: Person) => {
      const socket = socketOf(person, { origin });
      await once(socket, 'open');
      return socket;
    };
    const [ends, stays] = [await open(leaving), await open(staying)];
    const log = await fetch(`${world.url}/v1/agents/${agentId}/logs?follow=true`, {
      headers: { cookie: leaving.cookie },
    });
    assert.equal(log.status, 200);
    const logOver = log.text();
    const closed = once(ends, 'close');
    const before = performance.now();
    await leaving.signOut();
    const [code] = (await closed) as [number];
    await logOver;
    assert.equal(code, 1008);
    assert.ok(performance.now() - before < 3_000, `${performance.now() - before} ms`);
    await sleep(1_200);
    assert.equal(stays.readyState, WebSocket.OPEN);
    stays.terminate();
  },
);

test('a link that a session made opens a visit, and both end with the session', async () => {
  const person = await again(world);
  const made = await person.call('POST', `/agents/${agentId}/links`, { path: '/page' });
  assert.equal(made.status, 201, made.text);
  const unopened = (await person.call('POST', `/agents/${agentId}/links`, {})).body.url as string;
  const { cookie, hostname, status } = await visitor.openLink(made.body.url);
  assert.equal(status, 303);
  const look = () => visitor.ask(hostname, '/page', { key: null, headers: { cookie: cookie! } });
  assert.equal((await look()).status, 200);
  await person.signOut();
  assert.equal((await look()).status, 401);
  assert.equal((await visitor.openLink(unopened)).status, 404);
});

test("the cookie opens nothing at an agent's address, and no guest sees it", async () => {
  const cookie = `${owner.cookie}; __Host-${owner.cookie}; own=1`;
  const { headers: withToken } = owner;
  const before = guest.seen.length;
  for (const path of ['/', '/page', '/v1/agents', '/v1/account/session', '/account']) {
    for (const method of ['GET', 'POST']) {
      const headers = { ...withToken, cookie, 'sec-fetch-site': 'same-origin', origin: agentOrigin };
      const { status } = await visitor.ask(hostOf(agentId), path, { method, key: null, headers });
      assert.equal(status, 401, `${method} ${path}`);
    }
  }
  assert.equal(await visitor.handshake(hostOf(agentId), { cookie, origin: agentOrigin }, '/page'), 401);
  assert.equal(guest.seen.length, before);
  await visitor.ask(hostOf(agentId), '/page', { headers: { cookie } });
  assert.equal(guest.last.headers.cookie, 'own=1; of_host=1; of_gateway=2');
});

test('no name within the agents’ domain but our own reaches the API, and a rebound name brings no right', async () => {
  const { headers } = owner;
  for (const host of ['agents.localhost', 'evil.agents.localhost', `x.${apiHost}`, hostOf('a'.repeat(12))]) {
    const { status } = await visitor.ask(host, '/v1/agents', { key: null, headers });
    assert.ok(status === 404 || status === 401, `${status} ${host}`);
  }
  const rebound = { origin: 'null', 'sec-fetch-site': 'same-origin' };
  const refused = await visitor.ask('evil.example', '/v1/agents', { key: null, headers: { ...headers, ...rebound } });
  assert.equal(refused.status, 403);
  const without = await visitor.ask('evil.example', '/v1/agents', { key: null });
  assert.equal(without.status, 401, 'a browser has no cookie of ours for that name');
  assert.equal((await visitor.ask(apiHost, '/v1/agents', { key: null, headers })).status, 200);
});
