import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { execute } from '@lodge/testkit/postgres';
import { Browser, password, testWorld } from '../../../../../../packages/testkit/src/plane/http/account-area.ts';

const world = await testWorld();
after(() => world.close());
const { owner } = world;

/** Every call that changes something for a signed-in person; the ids do not exist. */
const id = '00000000-0000-4000-8000-000000000000';
const changes = [
  ['POST', '/sign-out', {}],
  ['DELETE', `/sessions/${id}`, undefined],
  ['DELETE', '/sessions', undefined],
  ['POST', '/password', { current_password: password, new_password: 'a whole new password' }],
  ['POST', '/totp', { password }],
  ['POST', '/totp/confirm', { code: '123456' }],
  ['DELETE', '/totp', { password, code: '123456' }],
  ['POST', '/device', { user_code: 'BCDF-GHJK' }],
  ['POST', '/device/decision', { user_code: 'BCDF-GHJK', approve: false }],
  ['POST', '/keys', { name: 'k', scopes: ['agents:read'] }],
  ['DELETE', `/keys/${id}`, undefined],
  ['POST', '/invitations', {}],
  ['DELETE', `/invitations/${id}`, undefined],
  ['PUT', `/people/${id}/spend-limit`, { spend_limit: null }],
] as const;
const reads = ['/session', '/sessions', '/keys', '/invitations', '/people'] as const;
/** True for the paths that take a key with the scope `keys:write`, too. */
const takesKeys = (path: string): boolean => path.startsWith('/keys');
const publicChanges = [
  ['/sign-in', { email: 'owner@example.com', password }],
  ['/setup', { token: 'a'.repeat(43), email: 'x@example.com', name: 'x', password }],
  ['/invitations/accept', { token: 'a'.repeat(43), email: 'x@example.com', name: 'x', password }],
  ['/register', { email: 'x@example.com', name: 'x', password }],
  ['/password-reset', { token: 'a'.repeat(43), password }],
] as const;

const dump = async (): Promise<string> => {
  const tables = ['accounts', 'sessions', 'account_links', 'api_keys', 'recovery_codes', 'events'];
  const [row] = await execute<{ all: string }>(
    world.connectionString,
    `select concat_ws('|', ${tables.map((table) => `(select json_agg(t order by t::text) from ${table} t)::text`).join(',')}) as all`,
  );
  return row!.all.replaceAll(/"last_seen_at":"[^"]*"/g, '');
};

test('without a session every route of somebody signed in is a 401, whatever cookie is sent', async () => {
  const calls = [...reads.map((path) => ['GET', path, undefined] as const), ...changes];
  for (const [method, path, body] of calls) {
    for (const headers of [
      {},
      { cookie: 'lodge_session=' },
      { cookie: `lodge_session=${'a'.repeat(43)}` },
      { cookie: `lodge_session=${world.firstKey}` },
      { cookie: "lodge_session=' or 1=1 --" },
      { cookie: '__proto__=x; constructor=y; lodge_session=%00' },
    ]) {
      const reply = await world.browser().call(method, path, body, headers);
      const code = takesKeys(path) && reply.body.error.code === 'missing_api_key' ? 'missing_api_key' : 'not_signed_in';
      assert.deepEqual([reply.status, reply.body.error.code], [401, code], `${method} ${path}`);
      assert.ok(reply.headers['www-authenticate']);
    }
  }
});

test('an API key with every scope may do nothing that takes a session, with or without a cookie beside it', async () => {
  const before = await dump();
  const calls = [...reads.map((path) => ['GET', path, undefined] as const), ...changes];
  for (const [method, path, body] of calls.filter(([, path]) => !takesKeys(path))) {
    for (const headers of [{ 'x-api-key': world.firstKey }, { authorization: `Bearer ${world.firstKey}` }]) {
      for (const browser of [world.browser(), owner]) {
        const reply = await browser.call(method, path, body, headers);
        assert.deepEqual([reply.status, reply.body.error.code], [403, 'insufficient_scope'], `${method} ${path}`);
      }
    }
    const wrong = await owner.call(method, path, body, { 'x-api-key': 'x' });
    assert.deepEqual([wrong.status, wrong.body.error.code], [401, 'invalid_api_key'], `${method} ${path}`);
  }
  assert.equal(await dump(), before);
});

test('a change from another site is refused, signed in or not, and changes nothing', async () => {
  const before = await dump();
  const foreign: Record<string, string | undefined>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost:8080.evil.example' },
    { origin: 'http://localhost:8081' },
    { origin: 'http://openclaw-abcdefghijkl.agents.localhost:8080' },
    { origin: undefined },
    { origin: undefined, referer: 'http://localhost:8080/account/' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://evil.example', host: 'localhost:8080' },
  ];
  let refused = 0;
  for (const headers of foreign) {
    for (const [method, path, body] of changes) {
      const reply = await owner.call(method, path, body, headers);
      assert.deepEqual(
        [reply.status, reply.body.error.code],
        [403, 'csrf_refused'],
        `${path} ${JSON.stringify(headers)}`,
      );
      refused++;
    }
    for (const [path, body] of publicChanges) {
      const reply = await world.browser().call('POST', path, body, headers);
      assert.deepEqual([reply.status, reply.body.error.code], [403, 'csrf_refused'], path);
      assert.equal(reply.headers['set-cookie'], undefined);
      refused++;
    }
  }
  assert.equal(refused, foreign.length * (changes.length + publicChanges.length));
  assert.equal(await dump(), before);
});

test('a change without the session’s own token is refused, also with another session’s', async () => {
  const other = await world.member();
  const before = await dump();
  for (const token of [undefined, '', 'x', other.csrf!, owner.cookie!.split('=')[1]!]) {
    for (const [method, path, body] of changes) {
      const reply = await owner.call(method, path, body, { 'x-csrf-token': token });
      assert.deepEqual([reply.status, reply.body.error.code], [403, 'csrf_refused'], path);
    }
  }
  assert.equal(await dump(), before);
});

test('a page of ours is one where the browser says so, or its origin is the host asked', async () => {
  const me = await world.member();
  const good: Record<string, string | undefined>[] = [
    { 'sec-fetch-site': 'same-origin', origin: undefined },
    { origin: 'http://192.0.2.5:8080', host: '192.0.2.5:8080' },
  ];
  for (const headers of good) {
    assert.equal((await me.call('DELETE', '/sessions', undefined, headers)).status, 200);
  }
});

test('a cookie that was planted before signing in is not taken over, and the old session ends', async () => {
  const [attacker, victim] = [await world.member(), await world.member()];
  const browser = world.browser();
  browser.cookie = attacker.cookie;
  await browser.call('POST', '/sign-in', { email: victim.email, password });
  assert.notEqual(browser.cookie, attacker.cookie);
  assert.equal((await attacker.call('GET', '/session')).status, 401);
  const planted = world.browser();
  planted.cookie = `lodge_session=${'A'.repeat(43)}`;
  await planted.call('POST', '/sign-in', { email: victim.email, password });
  assert.notEqual(planted.cookie, `lodge_session=${'A'.repeat(43)}`);
});

test('another account’s ids are 404 and nothing changes', async () => {
  const [me, other] = [await world.member(), await world.member()];
  const key = (await other.call('POST', '/keys', { name: 'k', scopes: ['agents:read'] })).body;
  const session = (await other.call('GET', '/session')).body.session;
  const before = await dump();
  for (const [path, code] of [
    [`/keys/${key.id}`, 'key_not_found'],
    [`/sessions/${session.id}`, 'session_not_found'],
  ] as const) {
    for (const browser of [me, owner]) {
      const reply = await browser.call('DELETE', path);
      assert.deepEqual([reply.status, reply.body.error.code], [404, code]);
    }
  }
  assert.equal(await dump(), before);
  assert.equal((await other.call('GET', '/session')).status, 200);
});

test('ids made of path tricks and control characters are 404, never a 5xx', async () => {
  const tricks = [
    '..%2f..%2fetc',
    '%00',
    '%ff',
    "'%20or%201=1",
    '__proto__',
    'a'.repeat(5000),
    '%0d%0aset-cookie:x=y',
    '-1',
    '٣',
  ];
  for (const trick of tricks) {
    for (const path of ['/keys/', '/sessions/', '/invitations/']) {
      const reply = await owner.call('DELETE', path + encodeURI(decodeSafely(trick) ?? trick));
      assert.ok(reply.status === 404 || reply.status === 400, `${reply.status} ${path}${trick}`);
    }
  }
});

function decodeSafely(text: string): string | null {
  return /%(ff|00|0d|2f)/i.test(text) ? null : decodeURIComponent(text);
}

test('keys that reach for the prototype, doubled keys, deep and large bodies are refused and pollute nothing', async () => {
  const json = { 'content-type': 'application/json' };
  const bodies = [
    '{"__proto__":{"role":"owner"},"email":"a@example.com","password":"x"}',
    '{"email":"a@example.com","password":"x","constructor":{"prototype":{"role":"owner"}}}',
    '{"email":"a@example.com","email":"b@example.com","password":"x"}',
    `{"email":${'['.repeat(10_000)}${']'.repeat(10_000)},"password":"x"}`,
    '{"email":{"$ne":null},"password":{"$ne":null}}',
    '["a@example.com"]',
    'null',
    '{',
  ];
  for (const body of bodies) {
    for (const path of ['/sign-in', '/register', '/setup']) {
      const reply = await world.browser().call('POST', path, body, json);
      assert.equal(reply.status, 400, body.slice(0, 60));
    }
  }
  const large = `{"email":"${'a'.repeat(10 * 1024 * 1024)}"}`;
  assert.equal((await world.browser().call('POST', '/sign-in', large, json)).status, 413);
  assert.equal(({} as { role?: string }).role, undefined);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const reply = await world.browser().call('POST', '/sign-in', 'email=owner%40example.com&password=x', form);
  assert.equal(reply.status, 415, 'what a form of another site can send is not read');
});

test('what is typed wrongly is never repeated, in replies or in the log', async () => {
  const secret = 'hunter2-hunter2-hunter2';
  for (const [path, body] of [
    ['/sign-in', { email: secret, password: secret, code: secret }],
    ['/sign-in', { email: 'a@example.com', password: [secret] }],
    ['/setup', { token: secret, email: 'a@example.com', name: 'x', password: secret.slice(0, 5) }],
    ['/password-reset', { token: secret, password: secret }],
  ] as const) {
    const reply = await world.browser().call('POST', path, body);
    assert.ok(reply.status >= 400 && reply.status < 500);
    assert.ok(!reply.text.includes('hunter2'));
  }
  const token = 'A'.repeat(43);
  await world.browser().call('POST', '/links', { token });
  const log = world.logged.join('\n');
  for (const hidden of ['hunter2', token, password, owner.cookie!.split('=')[1]!, owner.csrf!]) {
    assert.ok(!log.includes(hidden));
  }
});

test('header values of a client cannot end up as headers, and a long user agent is cut', async () => {
  const me = await world.member();
  const browser = world.browser();
  const agent = `Evil ${'x'.repeat(5000)}`;
  await browser.call('POST', '/sign-in', { email: me.email, password }, { 'user-agent': agent });
  const { data } = (await browser.call('GET', '/sessions')).body;
  const own = data.find(({ current }: { current: boolean }) => current);
  assert.equal(own.user_agent, agent.slice(0, 300));
});

test('no reply of the area is kept by a cache, and none lets another site read it', async () => {
  for (const path of reads) {
    const { headers } = await owner.call('GET', path, undefined, { origin: 'https://evil.example' });
    assert.match(String(headers['cache-control']), /no-store/);
    assert.equal(headers['access-control-allow-origin'], undefined);
  }
});

test('paths that are not there are a 404 for who is signed in, and wrong methods a 405; for others a 401', async () => {
  const nowhere = await owner.call('GET', '/nowhere');
  assert.deepEqual([nowhere.status, nowhere.body.error.code], [404, 'route_not_found']);
  const wrong = await owner.call('PUT', '/keys', {});
  assert.deepEqual([wrong.status, wrong.body.error.code], [405, 'method_not_allowed']);
  for (const [method, path] of [
    ['GET', '/nowhere'],
    ['PUT', '/keys'],
  ] as const) {
    assert.equal((await world.browser().call(method, path)).status, 401);
  }
  assert.equal((await world.app.inject({ url: '/account/api/session' })).statusCode, 404);
});

test('of twenty browsers that use one invitation at once, one is signed in', async () => {
  const { body } = await owner.call('POST', '/invitations', {});
  const token = /#token=(.*)$/.exec(body.url)![1]!;
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, n) => {
      const browser: Browser = world.browser();
      return browser.call('POST', '/invitations/accept', { token, email: `t${n}@example.com`, name: 'T', password });
    }),
  );
  const statuses = replies.map(({ status }) => status).toSorted((a, b) => a - b);
  assert.deepEqual(statuses, [200, ...Array.from({ length: 19 }, () => 404)]);
});
