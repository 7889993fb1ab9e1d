import { cryptography } from '@lodge/access';
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Database } from '@lodge/store/database';
import { execute } from '@lodge/testkit/postgres';
import { createAccounts, prune } from './accounts.ts';
import {
  byOf,
  caller,
  codeOf,
  now,
  password,
  principalOf,
  refusalOf,
  silent,
  testAccounts,
} from '../../../testkit/src/plane/accounts.ts';
import { createOwnerLink, createResetLink } from './operator-links.ts';
import { createSecretBox } from '../../../access/src/secret-box.ts';

const world = await testAccounts();
after(() => world.close());
const { accounts, store, owner } = world;
const emailOf = (me: { readonly account: { readonly email: string | null } }): string => me.account.email!;
const isIn = async (opened: { readonly token: string }): Promise<boolean> =>
  (await accounts.signedIn(opened.token)) !== null;

test('the owner’s link makes the first account somebody’s, who is signed in then; e-mail and name in one form', async () => {
  assert.equal(owner.account.role, 'owner');
  assert.equal(owner.account.email, 'owner@example.com');
  assert.equal((await accounts.signedIn(owner.token))!.account.id, owner.account.id);
  assert.equal(await refusalOf(createOwnerLink(store.database, cryptography.tokens)), 'invalid_request');
});

test('signing in takes the e-mail in any case, and gives a session of its own each time', async () => {
  const me = await world.member();
  const email = ` ${emailOf(me).toUpperCase()} `;
  const [one, two] = [
    await accounts.signIn({ email, password }, caller()),
    await accounts.signIn({ email, password }, caller()),
  ];
  assert.equal(one.account.id, me.account.id);
  assert.notEqual(one.token, two.token);
  assert.equal((await accounts.sessions(me)).length, 3);
});

test('an e-mail nobody has and a wrong password are refused with the same words', async () => {
  const me = await world.member();
  const messages = new Set<string>();
  for (const email of [emailOf(me), 'nobody@example.com', '', 'x\u0000y@example.com'.replace('\u0000', '')]) {
    const refused = accounts.signIn({ email, password: 'not this one at all' }, caller());
    await assert.rejects(refused, (error: Error & { code?: string }) => {
      messages.add(`${error.code} ${error.message}`);
      return true;
    });
  }
  assert.equal(messages.size, 1);
});

test('a session is at rest as a hash only, ends when signed out, and no other with it', async () => {
  const me = await world.member();
  const other = await accounts.signIn({ email: emailOf(me), password }, caller());
  const rows = await execute<{ row: string }>(
    world.database.connectionString,
    'select sessions::text as row from sessions',
  );
  for (const { row } of rows) assert.ok(!row.includes(me.token));
  await accounts.signOut(me, caller());
  assert.deepEqual([await isIn(me), await isIn(other)], [false, true]);
});

test('sessions end after 30 days, and after 7 without use', async () => {
  const me = await world.member();
  const age = async (column: string, days: number): Promise<void> => {
    const set = `update sessions set ${column} = now() ${column === 'expires_at' ? '' : `- interval '${days} days'`}`;
    await execute(world.database.connectionString, `${set} where id = '${me.session.id}'`);
  };
  await age('last_seen_at', 6.9);
  assert.ok(await isIn(me));
  await age('last_seen_at', 7);
  assert.ok(!(await isIn(me)));
  await execute(
    world.database.connectionString,
    `update sessions set last_seen_at = now() where id = '${me.session.id}'`,
  );
  assert.ok(await isIn(me));
  await age('expires_at', 0);
  assert.ok(!(await isIn(me)));
  await prune(store.database);
  const left = await execute(world.database.connectionString, `select 1 from sessions where id = '${me.session.id}'`);
  assert.deepEqual(left, []);
});

test('of more than 50 sessions those seen longest ago end', async () => {
  const me = await world.member();
  await execute(
    world.database.connectionString,
    `insert into sessions (account_id, hash, expires_at, address, last_seen_at)
     select '${me.account.id}', sha256(n::text::bytea), now() + interval '1 day', 'x', now() - n * interval '1 minute'
     from generate_series(1, 60) n`,
  );
  await accounts.signIn({ email: emailOf(me), password }, caller());
  assert.equal((await accounts.sessions(me)).length, 50);
  assert.ok(await isIn(me));
});

test('a changed password ends every session, and the old one opens none', async () => {
  const me = await world.member();
  const email = emailOf(me);
  const others = await Promise.all([1, 2, 3].map(() => accounts.signIn({ email, password }, caller())));
  const newPassword = 'another good long password';
  const changed = await accounts.changePassword(me, { currentPassword: password, newPassword }, caller());
  for (const session of [me, ...others]) assert.equal(await isIn(session), false);
  assert.ok(await isIn(changed));
  assert.equal(await refusalOf(accounts.signIn({ email, password }, caller())), 'invalid_credentials');
  assert.equal((await accounts.signIn({ email, password: newPassword }, caller())).account.id, me.account.id);
});

test('a password that is changed after it was checked and before the session began opens none', async () => {
  const me = await world.member();
  const { promise: changed, resolve } = Promise.withResolvers<void>();
  const checked = Promise.withResolvers<void>();
  let transactions = 0;
  const transaction: Database['transaction'] = async (work) => {
    transactions += 1;
    // The first of either counts the attempt.
    if (transactions > 2) {
      checked.resolve();
      await changed;
    }
    return store.database.transaction(work);
  };
  const slow = { ...store.database, transaction };
  const secrets = createSecretBox(Buffer.alloc(32));
  const elsewhere = createAccounts({
    crypto: cryptography,
    database: slow,
    secrets,
    log: silent,
    registrationOpen: false,
    origin: () => 'http://localhost',
  });
  const late = refusalOf(elsewhere.signIn({ email: emailOf(me), password }, caller()));
  const lateChange = refusalOf(
    elsewhere.changePassword(me, { currentPassword: password, newPassword: 'set by the slower one' }, caller()),
  );
  await checked.promise;
  await accounts.changePassword(me, { currentPassword: password, newPassword: 'another good long one' }, caller());
  resolve();
  assert.deepEqual([await late, await lateChange], ['invalid_credentials', 'invalid_credentials']);
  await elsewhere.close();
});

test('a password is not changed by who does not know it, and guesses at it are slowed', async () => {
  const me = await world.member();
  const guess = () =>
    refusalOf(
      accounts.changePassword(
        me,
        { currentPassword: 'wrong password', newPassword: 'y'.repeat(5) + 'abcdefgh' },
        caller(),
      ),
    );
  const outcomes = [];
  for (let i = 0; i < 8; i++) outcomes.push(await guess());
  assert.deepEqual(new Set(outcomes.slice(0, 5)), new Set(['invalid_credentials']));
  assert.ok(outcomes.slice(5).includes('rate_limit_exceeded'));
  assert.ok(await isIn(me));
});

test('passwords that are too short, too long or of few letters are refused', async () => {
  const me = await world.member();
  for (const newPassword of ['short', 'x'.repeat(300), 'abababababababab', emailOf(me)]) {
    const refused = accounts.changePassword(me, { currentPassword: password, newPassword }, caller());
    assert.equal(await refusalOf(refused), 'invalid_request', newPassword);
  }
});

test('the operator’s reset link sets a new password once and ends every session; a later link ends an earlier', async () => {
  const me = await world.member();
  const email = emailOf(me);
  const reset = () => createResetLink(store.database, cryptography.tokens, email, { removesTotp: false });
  const [first, second] = [await reset(), await reset()];
  const input = { token: first, password: 'set by the reset link' };
  assert.equal(await refusalOf(accounts.resetPassword(input, caller())), 'link_not_valid');
  assert.deepEqual((await accounts.link(second)).email, email);
  const outcomes = await Promise.all(
    Array.from({ length: 4 }, () => refusalOf(accounts.resetPassword({ ...input, token: second }, caller()))),
  );
  assert.deepEqual(outcomes.toSorted(), ['link_not_valid', 'link_not_valid', 'link_not_valid', 'nothing']);
  assert.ok(!(await isIn(me)));
  await accounts.signIn({ email, password: 'set by the reset link' }, caller());
  assert.equal(
    await refusalOf(createResetLink(store.database, cryptography.tokens, 'no@example.com', { removesTotp: false })),
    'invalid_request',
  );
});

test('links end in their time: 7 days for an invitation, an hour for a reset', async () => {
  const me = await world.member();
  const invitation = await accounts.invite(owner, { email: null }, caller());
  const reset = await createResetLink(store.database, cryptography.tokens, emailOf(me), { removesTotp: false });
  for (const [token, seconds] of [
    [invitation.token, 7 * 86_400],
    [reset, 3600],
  ] as const) {
    const { expiresAt, createdAt } = await accounts.link(token);
    assert.equal((expiresAt.getTime() - createdAt.getTime()) / 1000, seconds);
  }
  await execute(world.database.connectionString, `update account_links set expires_at = now() where used_at is null`);
  for (const token of [invitation.token, reset]) {
    assert.equal(await refusalOf(accounts.link(token)), 'link_not_valid');
  }
  const input = { token: invitation.token, email: 'late@example.com', name: 'Late', password };
  assert.equal(await refusalOf(accounts.acceptInvitation(input, caller())), 'link_not_valid');
  assert.equal(await refusalOf(accounts.resetPassword({ token: reset, password }, caller())), 'link_not_valid');
});

test('of ten who accept one invitation at once one gets in, and one account is made', async () => {
  const { token } = await accounts.invite(owner, { email: null }, caller());
  const before = (await accounts.members(owner)).length;
  const outcomes = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      refusalOf(accounts.acceptInvitation({ token, email: `race${n}@example.com`, name: 'R', password }, caller())),
    ),
  );
  assert.equal(outcomes.filter((outcome) => outcome === 'nothing').length, 1);
  assert.equal(outcomes.filter((outcome) => outcome === 'link_not_valid').length, 9);
  assert.equal((await accounts.members(owner)).length, before + 1);
});

test('an e-mail that is taken does not use the link up; a link opens only what it is for', async () => {
  const { token } = await accounts.invite(owner, { email: null }, caller());
  const person = { token, name: 'B', password };
  assert.equal(
    await refusalOf(accounts.acceptInvitation({ ...person, email: 'OWNER@example.com' }, caller())),
    'email_taken',
  );
  assert.equal(await refusalOf(accounts.setUp({ ...person, email: 'b@example.com' }, caller())), 'link_not_valid');
  assert.equal(await refusalOf(accounts.resetPassword({ token, password }, caller())), 'link_not_valid');
  await accounts.acceptInvitation({ ...person, email: 'b@example.com' }, caller());
});

test('an invitation for one e-mail is no other’s, and one that was withdrawn is nobody’s', async () => {
  const { token, link } = await accounts.invite(owner, { email: 'Carl@Example.com' }, caller());
  const person = { token, name: 'C', password };
  assert.equal(
    await refusalOf(accounts.acceptInvitation({ ...person, email: 'eve@example.com' }, caller())),
    'invalid_request',
  );
  await accounts.endInvitation(owner, link.id, caller());
  assert.equal(
    await refusalOf(accounts.acceptInvitation({ ...person, email: 'carl@example.com' }, caller())),
    'link_not_valid',
  );
  assert.equal(await refusalOf(accounts.endInvitation(owner, link.id, caller())), 'invitation_not_found');
});

test('members may not invite, nor see invitations or members', async () => {
  const me = await world.member();
  const { link } = await accounts.invite(owner, { email: null }, caller());
  for (const call of [
    () => accounts.invite(me, { email: null }, caller()),
    () => accounts.invitations(me),
    () => accounts.members(me),
    () => accounts.endInvitation(me, link.id, caller()),
  ]) {
    assert.equal(await refusalOf(call()), 'owner_only');
  }
  assert.ok((await accounts.invitations(owner)).some(({ id, usedAt }) => id === link.id && usedAt === null));
});

test('registering is closed unless it is opened', async () => {
  const person = { email: 'r@example.com', name: 'R', password };
  assert.equal(await refusalOf(accounts.register(person, caller())), 'registration_closed');
});

test('keys: made with what was asked for, listed without the key, revoked for good; another account’s do not exist', async () => {
  const [me, other] = [await world.member(), await world.member()];
  const expiresAt = new Date(Date.now() + 60_000);
  const { record, key } = await accounts.createKey(
    principalOf(me),
    { name: ' CI ', scopes: ['usage:read', 'agents:read', 'agents:read'], expiresAt },
    { by: byOf(me) },
  );
  assert.match(key, /^lodge_live_[0-9A-Za-z]{43}$/);
  assert.deepEqual([record.name, record.scopes, record.last4], ['CI', ['agents:read', 'usage:read'], key.slice(-4)]);
  assert.deepEqual(await accounts.keys(me.account.id), [record]);
  assert.deepEqual(await accounts.keys(other.account.id), []);
  for (const id of [record.id, 'x', '', "' or 1=1", '\u0000']) {
    assert.equal(await refusalOf(accounts.revokeKey(other.account.id, id, byOf(other))), 'key_not_found');
  }
  assert.equal((await accounts.keys(me.account.id))[0]!.revokedAt, null);
  const revoked = await accounts.revokeKey(me.account.id, record.id, byOf(me));
  assert.ok(revoked.revokedAt);
  assert.deepEqual(await accounts.revokeKey(me.account.id, record.id, byOf(me)), revoked);
});

test('a key’s name, scopes and expiry are checked, and there are 100 live ones at most, made at once or not', async () => {
  const me = await world.member();
  const good = { name: 'k', scopes: ['agents:read'] as const, expiresAt: null };
  for (const bad of [
    { ...good, name: '  ' },
    { ...good, name: 'x'.repeat(101) },
    { ...good, scopes: [] },
    { ...good, expiresAt: new Date(now) },
    { ...good, expiresAt: new Date(Number.NaN) },
  ]) {
    assert.equal(await refusalOf(accounts.createKey(principalOf(me), bad, { by: byOf(me) })), 'invalid_request');
  }
  const made = await Promise.all(
    Array.from({ length: 110 }, () => refusalOf(accounts.createKey(principalOf(me), good, { by: byOf(me) }))),
  );
  assert.equal(made.filter((outcome) => outcome === 'nothing').length, 100);
  assert.equal(made.filter((outcome) => outcome === 'quota_exceeded').length, 10);
});

test('another account’s sessions cannot be ended', async () => {
  const [me, other] = [await world.member(), await world.member()];
  assert.equal(await refusalOf(accounts.endSession(other, me.session.id, caller())), 'session_not_found');
  assert.ok(await isIn(me));
  await accounts.endSession(me, me.session.id, caller());
  assert.ok(!(await isIn(me)));
  assert.equal(await refusalOf(accounts.endSession(me, 'nonsense', caller())), 'session_not_found');
});

test('what was done stands in the account’s audit log and in no other, without secrets', async () => {
  const me = await world.member();
  const from = caller('198.51.100.9');
  const { record, key } = await accounts.createKey(
    principalOf(me),
    { name: 'k', scopes: ['agents:read'], expiresAt: null },
    { by: byOf(me, from) },
  );
  await accounts.revokeKey(me.account.id, record.id, byOf(me, from));
  await accounts.revokeKey(me.account.id, record.id, byOf(me, from));
  const { secret } = await accounts.beginTotp(me, { password }, from);
  const codes = await accounts.confirmTotp(me, { code: codeOf(secret) }, from);
  await accounts.changePassword(me, { currentPassword: password, newPassword: 'yet another password' }, from);
  const events = await store.events.audit({ accountId: me.account.id, limit: 100, direction: 'asc' });
  assert.deepEqual(
    events.map(({ action }) => action),
    ['account.joined', 'api_key.created', 'api_key.revoked', 'totp.begun', 'totp.enabled', 'password.changed'],
  );
  assert.deepEqual(events[1]!.target, { kind: 'api_key', id: record.id });
  assert.deepEqual([events[1]!.address, events[1]!.requestId], [from.address, from.requestId]);
  const text = JSON.stringify(events, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
  for (const hidden of [key, secret, ...codes, password, me.token]) assert.ok(!text.includes(hidden));
  const page = await store.events.audit({ accountId: me.account.id, limit: 2, direction: 'desc', from: events[4]!.id });
  assert.deepEqual(
    page.map(({ action }) => action),
    ['totp.begun', 'api_key.revoked'],
  );
});

test('a change that fails leaves no line in the audit log, and a line that fails no change', async () => {
  const me = await world.member();
  const count = () =>
    execute<{ n: number }>(world.database.connectionString, 'select count(*)::int as n from events').then(
      ([row]) => row!.n,
    );
  const before = await count();
  await refusalOf(
    accounts.changePassword(me, { currentPassword: 'wrong password', newPassword: 'some new password' }, caller()),
  );
  await refusalOf(accounts.endSession(me, owner.session.id, caller()));
  assert.equal(await count(), before);
  const badCaller = { ...caller(), requestId: 'nul \u0000 in it' };
  await assert.rejects(
    accounts.createKey(
      principalOf(me),
      { name: 'k', scopes: ['agents:read'], expiresAt: null },
      { by: byOf(me, badCaller) },
    ),
  );
  assert.deepEqual(await accounts.keys(me.account.id), []);
});
