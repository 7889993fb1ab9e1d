import { cryptography } from '@lodge/access';
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createResetLink } from '@lodge/engine';
import { execute } from '@lodge/testkit/postgres';
import {
  codeOf,
  password,
  testWorld,
  tokenOf,
} from '../../../../../../packages/testkit/src/plane/http/account-area.ts';

const world = await testWorld();
after(() => world.close());
const { owner } = world;

const isTime = (text: unknown): boolean => typeof text === 'string' && new Date(text).toISOString() === text;

test('the owner link signs in, and the session is told as the pages expect it', async () => {
  const { status, body } = await owner.call('GET', '/session');
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(body).toSorted(), ['account', 'csrf_token', 'session']);
  const { account, session } = body;
  assert.deepEqual(
    { ...account, id: '', created_at: '' },
    {
      object: 'account',
      id: '',
      name: 'Ada',
      email: 'owner@example.com',
      role: 'owner',
      totp_enabled: false,
      record_llm_calls: false,
      created_at: '',
    },
  );
  assert.ok(isTime(account.created_at) && isTime(session.created_at) && isTime(session.expires_at));
});

test('anyone may ask for the options and what a link is for; a link that is none is a 404', async () => {
  const anyone = world.browser();
  const options = await anyone.call('GET', '/options');
  assert.deepEqual(options.body, { registration_open: false, api_base_url: 'http://localhost:8080/v1' });
  const { body } = await owner.call('POST', '/invitations', { email: 'Dora@example.com' });
  assert.ok(body.url.startsWith('http://localhost:8080/account/join#token='));
  const link = await anyone.call('POST', '/links', { token: tokenOf(body.url) });
  assert.deepEqual(link.body, { kind: 'invite', email: 'dora@example.com', expires_at: body.expires_at });
  for (const token of ['', 'x', 'a'.repeat(43), '\0', '../..']) {
    const none = await anyone.call('POST', '/links', { token });
    assert.deepEqual([none.status, none.body.error.code], [404, 'link_not_valid'], token);
  }
});

test('the cookie is HttpOnly, SameSite=Lax, for the whole host, and not Secure where there is no https', async () => {
  const browser = world.browser();
  const { headers } = await browser.call('POST', '/sign-in', { email: owner.email, password });
  assert.match(
    String(headers['set-cookie']),
    /^lodge_session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  const out = await browser.call('POST', '/sign-out');
  assert.match(String(out.headers['set-cookie']), /^lodge_session=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/);
});

test('over https the cookie is Secure and bound to the host alone', async (t) => {
  const https = await testWorld('https://lodge.example.com');
  t.after(() => https.close());
  const { headers } = await https.browser().call('POST', '/sign-in', { email: https.owner.email, password });
  assert.match(
    String(headers['set-cookie']),
    /^__Host-lodge_session=[\w-]{43}; .*Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  const tossed = https.browser();
  tossed.cookie = https.owner.cookie!.replace('__Host-', '');
  assert.equal((await tossed.call('GET', '/session')).status, 401);
});

test('keys: made, shown once, listed, used, revoked', async () => {
  const me = await world.member();
  const made = await me.call('POST', '/keys', {
    name: 'CI',
    scopes: ['agents:read'],
    expires_at: '2031-01-31T12:00:00Z',
  });
  assert.equal(made.status, 201);
  const { key, ...record } = made.body;
  assert.match(key, /^lodge_live_[0-9A-Za-z]{43}$/);
  assert.deepEqual((await me.call('GET', '/keys')).body, { data: [record] });
  const revoked = await me.call('DELETE', `/keys/${record.id}`);
  assert.ok(isTime(revoked.body.revoked_at));
  assert.deepEqual((await me.call('GET', '/keys')).body.data, [revoked.body]);
});

test('wrong keys to be are a 400 that names the field', async () => {
  const good = { name: 'CI', scopes: ['agents:read'] };
  for (const [field, body] of [
    ['name', { scopes: good.scopes }],
    ['name', { ...good, name: '' }],
    ['name', { ...good, name: ' ' }],
    ['name', { ...good, name: 'x'.repeat(101) }],
    ['scopes', { ...good, scopes: [] }],
    ['scopes', { ...good, scopes: ['agents:all'] }],
    ['expires_at', { ...good, expires_at: 'tomorrow' }],
    ['expires_at', { ...good, expires_at: '2020-01-01T00:00:00Z' }],
    ['colour', { ...good, colour: 'red' }],
  ] as const) {
    const { status, body: reply } = await owner.call('POST', '/keys', body);
    assert.deepEqual([status, reply.error.code], [400, 'invalid_request'], JSON.stringify(body));
    assert.ok(reply.error.message.includes(field), `${reply.error.message} names ${field}`);
  }
});

test('sessions are listed with the current one marked, and ended one by one or all but this', async () => {
  const me = await world.member();
  const [phone, tablet] = [world.browser(), world.browser()];
  for (const other of [phone, tablet]) await other.call('POST', '/sign-in', { email: me.email, password });
  const { data } = (await me.call('GET', '/sessions')).body;
  assert.equal(data.length, 3);
  assert.equal(data.filter(({ current }: { current: boolean }) => current).length, 1);
  const ofPhone = data.find(({ address }: { address: string }) => address === phone.address);
  assert.equal(ofPhone.user_agent, 'Browser/1.0');
  assert.equal((await me.call('DELETE', `/sessions/${ofPhone.id}`)).status, 200);
  assert.equal((await phone.call('GET', '/session')).status, 401);
  assert.equal((await tablet.call('GET', '/session')).status, 200);
  await me.call('DELETE', '/sessions');
  assert.equal((await tablet.call('GET', '/session')).status, 401);
  assert.equal((await me.call('GET', '/session')).status, 200);
});

test('a password is changed, and this browser alone stays signed in, by a new cookie', async () => {
  const me = await world.member();
  const other = world.browser();
  await other.call('POST', '/sign-in', { email: me.email, password });
  const before = me.cookie;
  const changed = await me.call('POST', '/password', {
    current_password: password,
    new_password: 'a whole new password',
  });
  assert.equal(changed.status, 200);
  assert.notEqual(me.cookie, before);
  assert.equal((await me.call('GET', '/session')).status, 200);
  assert.equal((await other.call('GET', '/session')).status, 401);
  const thief = world.browser();
  thief.cookie = before;
  assert.equal((await thief.call('GET', '/session')).status, 401);
});

test('the second factor from beginning to end', async () => {
  const me = await world.member();
  const begun = await me.call('POST', '/totp', { password });
  assert.equal(new URL(begun.body.otpauth_url).searchParams.get('secret'), begun.body.secret);
  const at = (steps: number): string => codeOf(begun.body.secret, steps);
  const confirmed = await me.call('POST', '/totp/confirm', { code: at(-1) });
  assert.equal(confirmed.body.recovery_codes.length, 10);
  assert.equal((await me.call('GET', '/session')).body.account.totp_enabled, true);
  const fresh = world.browser();
  const without = await fresh.call('POST', '/sign-in', { email: me.email, password });
  assert.deepEqual([without.status, without.body.error.code], [401, 'second_factor_required']);
  const wrong = await fresh.call('POST', '/sign-in', { email: me.email, password, code: '000000' });
  assert.deepEqual([wrong.status, wrong.body.error.code], [401, 'invalid_code']);
  const code = at(0);
  assert.equal((await fresh.call('POST', '/sign-in', { email: me.email, password, code })).status, 200);
  const replay = await world.browser().call('POST', '/sign-in', { email: me.email, password, code });
  assert.deepEqual([replay.status, replay.body.error.code], [401, 'invalid_code']);
  const [recovery] = confirmed.body.recovery_codes;
  assert.equal((await me.call('DELETE', '/totp', { password, code: recovery })).status, 200);
  assert.equal((await world.browser().call('POST', '/sign-in', { email: me.email, password })).status, 200);
});

test('owners see members and invitations; members are told that they may not', async () => {
  const me = await world.member();
  const members = await owner.call('GET', '/people');
  assert.ok(
    members.body.data.some(
      (member: { email: string; agents: number }) => member.email === me.email && member.agents === 0,
    ),
  );
  const { body: made } = await owner.call('POST', '/invitations', {});
  for (const [method, path, body] of [
    ['GET', '/people', undefined],
    ['GET', '/invitations', undefined],
    ['POST', '/invitations', {}],
    ['DELETE', `/invitations/${made.id}`, undefined],
    ['PUT', '/people/x/spend-limit', { spend_limit: null }],
  ] as const) {
    const refused = await me.call(method, path, body);
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'owner_only'], path);
  }
  assert.equal((await owner.call('DELETE', `/invitations/${made.id}`)).status, 200);
  assert.equal((await owner.call('DELETE', `/invitations/${made.id}`)).status, 404);
});

test('an owner limits what an account spends, and lifts the limit again', async () => {
  const me = await world.member();
  const listed = async () =>
    (await owner.call('GET', '/people')).body.data.find((member: { email: string }) => member.email === me.email);
  const path = `/people/${(await listed()).id}/spend-limit`;
  const limit = { daily_usd: '5', monthly_usd: null, action: 'pause' };
  assert.equal((await listed()).spend_limit, null);
  assert.equal((await owner.call('PUT', path, { spend_limit: limit })).status, 200);
  assert.deepEqual((await listed()).spend_limit, limit);
  for (const wrong of [{ ...limit, daily_usd: '0' }, { action: 'block' }, { daily_usd: '5' }, 5]) {
    const refused = await owner.call('PUT', path, { spend_limit: wrong });
    assert.deepEqual([refused.status, refused.body.error.code], [400, 'invalid_request'], refused.text);
    assert.match(refused.body.error.message, /spend_limit/);
  }
  assert.deepEqual((await listed()).spend_limit, limit);
  assert.equal((await owner.call('PUT', path, { spend_limit: null })).status, 200);
  assert.equal((await listed()).spend_limit, null);
  const nobody = await owner.call('PUT', '/people/x/spend-limit', { spend_limit: limit });
  assert.deepEqual([nobody.status, nobody.body.error.code], [404, 'account_not_found']);
});

test('everyone sees what their own account spent, and the limit that holds for it', async () => {
  const me = await world.member();
  const { id } = (await me.call('GET', '/session')).body.account;
  await execute(
    world.connectionString,
    `insert into spend_windows (scope, id, period, starts, spent_usd) values
      ('account', '${id}', 'day', date_trunc('day', now(), 'UTC'), 1.25),
      ('account', '${id}', 'month', date_trunc('month', now(), 'UTC'), 7.5)`,
  );
  const limit = { daily_usd: '5', monthly_usd: null, action: 'pause' };
  assert.equal((await owner.call('PUT', `/people/${id}/spend-limit`, { spend_limit: limit })).status, 200);
  const { status, body } = await me.call('GET', '/spend');
  assert.equal(status, 200);
  const { daily, monthly, ...rest } = body;
  assert.deepEqual([daily.limit_usd, daily.spent_usd], ['5', '1.25']);
  assert.deepEqual([monthly.limit_usd, monthly.spent_usd], [null, '7.5']);
  assert.ok(Date.parse(daily.resets_at) > Date.now() && daily.resets_at <= monthly.resets_at);
  assert.deepEqual(rest, { action: 'pause', spend_limit: limit });
  const { body: others } = await owner.call('GET', '/spend');
  assert.deepEqual([others.daily.spent_usd, others.daily.limit_usd, others.spend_limit], ['0', null, null]);
  assert.equal((await world.browser().call('GET', '/spend')).status, 401);
});

test('whether model calls are recorded is off, and everyone’s own to change', async () => {
  const [me, other] = [await world.member(), await world.member()];
  const now = async (browser: typeof me) => (await browser.call('GET', '/session')).body.account.record_llm_calls;
  assert.equal(await now(me), false);
  const changed = await me.call('PATCH', '/v1/account', { record_llm_calls: true });
  assert.deepEqual([changed.status, changed.body.email, changed.body.record_llm_calls], [200, me.email, true]);
  assert.deepEqual([await now(me), await now(other)], [true, false]);
  for (const wrong of [{}, { record_llm_calls: 'yes' }, { record_llm_calls: null }, { name: 'x' }]) {
    const refused = await me.call('PATCH', '/v1/account', wrong);
    assert.deepEqual([refused.status, refused.body.error.code], [400, 'invalid_request'], refused.text);
  }
  assert.equal((await world.browser().call('PATCH', '/v1/account', { record_llm_calls: false })).status, 401);
  assert.equal(await now(me), true);
  await me.call('PATCH', '/v1/account', { record_llm_calls: false });
  assert.equal(await now(me), false);
  const events = await world.store.events.audit({ accountId: changed.body.id, limit: 2, direction: 'desc' });
  assert.deepEqual(
    events.map(({ action, actor, details }) => [action, actor.kind, details['record_llm_calls']]),
    [
      ['account.updated', 'account', false],
      ['account.updated', 'account', true],
    ],
  );
});

test('registering: refused where it is closed; where it is open it signs in, once an e-mail', async (t) => {
  const person = { email: 'new@example.com', name: 'New', password };
  const closed = await world.browser().call('POST', '/register', person);
  assert.deepEqual([closed.status, closed.body.error.code], [403, 'registration_closed']);
  const open = await testWorld('http://localhost:8080', true);
  t.after(() => open.close());
  const browser = open.browser();
  const joined = await browser.call('POST', '/register', person);
  assert.deepEqual([joined.status, joined.body.account.role], [200, 'member']);
  assert.equal((await browser.call('GET', '/session')).status, 200);
  const again = await open.browser().call('POST', '/register', { ...person, email: 'NEW@example.com' });
  assert.deepEqual([again.status, again.body.error.code], [409, 'email_taken']);
});

test('the operator’s reset link signs in with a new password', async () => {
  const me = await world.member();
  const token = await createResetLink(world.store.database, cryptography.tokens, me.email, { removesTotp: false });
  const browser = world.browser();
  const reset = await browser.call('POST', '/password-reset', { token, password: 'set by the reset link' });
  assert.equal(reset.status, 200);
  assert.equal((await me.call('GET', '/session')).status, 401);
  assert.equal((await browser.call('GET', '/session')).body.account.email, me.email);
});

test('too many attempts are a 429 with Retry-After', async () => {
  const me = await world.member();
  const browser = world.browser();
  let last = await browser.call('POST', '/sign-in', { email: me.email, password: 'wrong password' });
  for (let i = 0; i < 6; i++)
    last = await browser.call('POST', '/sign-in', { email: me.email, password: 'wrong password' });
  assert.deepEqual(
    [last.status, last.body.error.code, last.body.error.type],
    [429, 'rate_limit_exceeded', 'rate_limit_error'],
  );
  assert.ok(Number(last.headers['retry-after']) >= 1);
});

test('the document tells of the account area, and which of it a session alone may do', async () => {
  const reply = await world.app.inject({ url: '/v1/openapi.json' });
  assert.equal(reply.statusCode, 200);
  const { paths } = reply.json();
  assert.deepEqual(paths['/v1/account/password'].post.security, [{ session: [] }]);
  assert.deepEqual(paths['/v1/account/sign-in'].post.security, []);
  assert.doesNotMatch(reply.body, /account\/api/);
});

test('an invitation gives the role of a member or a viewer, and no other', async () => {
  for (const role of ['owner', 'admin', null]) {
    const refused = await owner.call('POST', '/invitations', { role });
    assert.deepEqual([refused.status, refused.body.error.code], [400, 'invalid_request']);
  }
  assert.equal((await owner.call('POST', '/invitations', {})).body.role, 'member');
  const viewer = await world.member('viewer');
  assert.equal((await viewer.call('GET', '/session')).body.account.role, 'viewer');
});

test('a viewer makes keys that read, and none that do more than they may themselves', async () => {
  const viewer = await world.member('viewer');
  const made = await viewer.call('POST', '/keys', { name: 'r', scopes: ['agents:read', 'usage:read'] });
  assert.equal(made.status, 201);
  for (const scope of ['agents:write', 'agents:delete', 'agents:chat']) {
    const refused = await viewer.call('POST', '/keys', { name: 'w', scopes: ['agents:read', scope] });
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'insufficient_scope']);
    assert.ok(refused.body.error.message.includes(scope));
  }
});
