/**
 * Attacks on the API over HTTP, each with the number of attempts it makes. Attacks on sign-in and sessions are in the
 * account area's own tests.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { makeApiKey } from '@lodge/access';
import { openWorld, send } from '../e2e/api/world.ts';
import type { World } from '../e2e/api/world.ts';

let world: World;
before(async () => {
  world = await openWorld({ maxAgents: 5, maxConnections: 1000 });
});
after(() => world?.close());

const post = (body: string) => send(world.url, 'POST', '/v1/agents', { key: world.key, body });
const counted = (t: TestContext, count: number, what: string) => t.diagnostic(`${count} ${what}`);

/** Writes bytes on a connection of its own and gives what came back until the server closed it. */
async function raw(text: string): Promise<string> {
  const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
  socket.write(text);
  socket.setTimeout(5000, () => socket.destroy());
  let answer = '';
  socket.on('data', (part) => (answer += String(part)));
  socket.on('error', () => undefined);
  await once(socket, 'close');
  return answer;
}

test('prototype keys in JSON reach nothing', async (t) => {
  const values = ['{"polluted":true}', '1', 'null', '[]', '"x"'];
  const places = [
    (key: string, value: string) => `{"name":"x","${key}":${value}}`,
    (key: string, value: string) => `{"name":"x","metadata":{"${key}":${value}}}`,
    (key: string, value: string) => `{"name":"x","lifecycle":{"${key}":${value}}}`,
    (key: string, value: string) => `{"name":"x","llm_keys":[{"provider":"openai","api_key":"k","${key}":${value}}]}`,
  ];
  let count = 0;
  for (const key of ['__proto__', '\\u005f_proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
    for (const value of values) {
      for (const place of places) {
        const { status, text, body } = await post(place(key, value));
        count += 1;
        assert.ok(status === 400 || status === 201 || status === 429, text);
        if (status === 201) await send(world.url, 'DELETE', `/v1/agents/${body.id}`, { key: world.key });
        assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
      }
    }
  }
  counted(t, count, 'bodies');
});

test('headers cannot be injected through paths, queries, names and keys', async (t) => {
  const evil = '\r\nX-Evil: 1\r\n\r\nHTTP/1.1 200 OK';
  const encoded = encodeURIComponent(evil);
  const answers = [
    await send(world.url, 'GET', `/v1/agents/${encoded}`, { key: world.key }),
    await send(world.url, 'GET', `/v1/agents?name=${encoded}`, { key: world.key }),
    await send(world.url, 'GET', `/v1/${encoded}`, { key: world.key }),
    await send(world.url, 'GET', `/v1/agents?cursor=${encoded}`, { key: world.key }),
    await post(JSON.stringify({ name: evil })),
  ];
  for (const { headers } of answers) assert.equal(headers.has('x-evil'), false);
  const smuggled = [
    `GET /v1/agents HTTP/1.1\r\nHost: x\r\nX-API-Key: a\r\n X-Evil: 1\r\n\r\n`,
    `POST /v1/agents HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n`,
    `POST /v1/agents HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`,
    `GET /v1/agents HTTP/1.1\r\nHost: x\r\nX-Api-Key: a\0b\r\n\r\n`,
    `GET  /v1/agents HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  ];
  for (const text of smuggled) {
    const answer = await raw(text);
    assert.match(answer, /^HTTP\/1\.1 4\d\d /, JSON.stringify(text));
    assert.equal(answer.match(/HTTP\/1\.1/g)!.length, 1, 'one answer, not two');
  }
  counted(t, answers.length + smuggled.length, 'requests');
});

test('paths in ids lead nowhere', async (t) => {
  const ids = [
    '..',
    '.',
    '../agents',
    '..%2f..%2fetc%2fpasswd',
    '%2e%2e',
    '%00',
    'a%00b',
    '%5c..%5c',
    '~',
    '*',
    '%25',
    "'%20or%201=1",
    '💥',
    'x'.repeat(5000),
    '__proto__',
    'constructor',
  ];
  let count = 0;
  for (const id of ids) {
    for (const [method, rest] of [
      ['GET', ''],
      ['GET', '/logs'],
      ['POST', '/stop'],
      ['DELETE', ''],
    ] as const) {
      const answer = await raw(
        `${method} /v1/agents/${encodeURI(id).replaceAll('%25', '%')}${rest} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-Key: ${world.key}\r\n\r\n`,
      );
      count += 1;
      assert.match(answer, /^HTTP\/1\.1 4\d\d /, `${method} ${id}${rest}: ${answer.slice(0, 200)}`);
      assert.doesNotMatch(answer, /root:|node_modules|postgres|\/work\//);
    }
  }
  counted(t, count, 'paths');
});

test('large and deep bodies are refused, and the service goes on', async (t) => {
  const ten = 'x'.repeat(10 * 1024 * 1024);
  const refused = await post(`{"name":"${ten}"}`).catch((error: unknown) => error as Error);
  if (!(refused instanceof Error)) assert.equal(refused.status, 413);
  const deep = [`${'['.repeat(10_000)}${']'.repeat(10_000)}`, `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`];
  for (const body of deep) assert.equal((await post(body)).status, 400);
  const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 40_000 }, (_, i) => [`k${i}`, 1])));
  assert.equal((await post(wide)).status, 400);
  assert.equal((await send(world.url, 'GET', '/v1/health', {})).status, 200);
  counted(t, 4, 'bodies');
});

test('a key in the query string is no key, and is refused as a parameter', async (t) => {
  const names = ['api_key', 'apiKey', 'key', 'access_token', 'token', 'x-api-key'];
  for (const name of names) {
    assert.equal((await send(world.url, 'GET', `/v1/agents?${name}=${world.key}`, {})).status, 401);
    assert.equal((await send(world.url, 'GET', `/v1/agents?${name}=x`, { key: world.key })).status, 400);
  }
  counted(t, names.length * 2, 'requests');
});

test('known and unknown keys are not told apart by time', async (t) => {
  const rounds = 400;
  // Both are well formed, and neither opens anything: one was never made, the other is there and revoked.
  const revoked = await world.keyOf(world.accountId, ['agents:read']);
  await world.sql.query(
    'update api_keys set revoked_at = now() where id = (select id from api_keys order by created_at desc limit 1)',
  );
  const times: Record<'revoked' | 'unknown', number[]> = { revoked: [], unknown: [] };
  const ask = async (kind: keyof typeof times, key: string): Promise<void> => {
    const before = performance.now();
    const { status } = await send(world.url, 'GET', '/v1/sizes', { key });
    times[kind].push(performance.now() - before);
    assert.equal(status, 401);
  };
  const near = `${revoked.slice(0, 20)}${makeApiKey().slice(20)}`;
  const unknown = makeApiKey();
  for (let i = 0; i < rounds; i += 1) {
    await ask('revoked', revoked);
    await ask('unknown', i % 2 ? unknown : near);
  }
  const sorted = { revoked: times.revoked.toSorted((a, b) => a - b), unknown: times.unknown.toSorted((a, b) => a - b) };
  const medians = [sorted.revoked[rounds / 2]!, sorted.unknown[rounds / 2]!] as const;
  // Mann-Whitney: the share of pairs in which the one is slower; a half is what chance gives.
  let slower = 0;
  for (const a of sorted.revoked) for (const b of sorted.unknown) slower += a > b ? 1 : a === b ? 0.5 : 0;
  const share = slower / rounds ** 2;
  counted(
    t,
    rounds * 2,
    `requests; medians ${medians.map((ms) => ms.toFixed(2)).join(' and ')} ms, share ${share.toFixed(3)}`,
  );
  assert.ok(Math.abs(share - 0.5) < 0.15, `share ${share}`);
});

test('nobody is believed about the address they come from', async (t) => {
  const tight = await openWorld({ rates: { address: 10 } });
  try {
    let passed = 0;
    for (let i = 0; i < 40; i += 1) {
      const headers = {
        'x-forwarded-for': `203.0.113.${i}`,
        'x-real-ip': `203.0.113.${i}`,
        forwarded: `for=203.0.113.${i}`,
      };
      const { status } = await send(tight.url, 'GET', '/v1/agents', { headers, key: randomBytes(8).toString('hex') });
      if (status === 401) passed += 1;
    }
    assert.ok(passed <= 13, String(passed));
    counted(t, 40, `requests, ${passed} counted before the limit`);
  } finally {
    await tight.close();
  }
});
