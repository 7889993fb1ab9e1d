/** Each change of an account has exactly one event of it in its transaction; the test's own triggers tell what is a change. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { cryptography } from '@lodge/access';
import { execute } from '@lodge/testkit/postgres';
import { byOf, caller, codeOf, password, principalOf, testAccounts } from '../../../testkit/src/plane/accounts.ts';
import { watchFacts } from '../../../store/src/testing/facts.ts';
import { createOwnerLink, createResetLink } from './operator-links.ts';
import type { OpenedSession } from './signed-in.ts';

const world = await testAccounts(true);
after(() => world.close());
const sql = <Row extends Record<string, unknown>>(text: string) => execute<Row>(world.database.connectionString, text);
/** An account that nobody has yet. */
await sql("insert into accounts (name, role) values ('default', 'owner')");
await watchFacts(world.database.connectionString);

const called = new Set<string>();
const watched = <Of extends object>(of: Of): Of =>
  new Proxy(of, { get: (target, name) => (called.add(String(name)), Reflect.get(target, name) as unknown) });
const accounts = watched(world.accounts);
const oauth = watched(world.accounts.oauth);
const { owner } = world;
const emailOf = ({ account }: OpenedSession): string => account.email!;

async function people(): Promise<OpenedSession> {
  const first = await createOwnerLink(world.store.database, cryptography.tokens);
  await accounts.setUp({ token: first, email: 'second@example.com', name: 'Di', password }, caller());
  await accounts.register({ email: 'open@example.com', name: 'Cy', password }, caller());
  const { token, link } = await accounts.invite(owner, { email: null }, caller());
  await accounts.link(token);
  const me = await accounts.acceptInvitation({ token, email: 'bo@example.com', name: 'Bo', password }, caller());
  const { link: other } = await accounts.invite(owner, { email: null }, caller());
  await accounts.endInvitation(owner, other.id, caller());
  await assert.rejects(accounts.endInvitation(owner, link.id, caller()));
  await accounts.invitations(owner);
  await accounts.members(owner);
  const limit = { dailyUsd: '5', monthlyUsd: null, action: 'block' } as const;
  for (let again = 0; again < 2; again += 1) {
    await accounts.setSpendLimit(owner, me.account.id, limit, caller());
    await accounts.update(me.account.id, { recordLlmCalls: true }, byOf(me));
  }
  await accounts.account(me.account.id);
  return me;
}

async function sessions(before: OpenedSession): Promise<OpenedSession> {
  const signIn = () => accounts.signIn({ email: emailOf(before), password }, caller());
  const [one, two] = [await signIn(), await signIn()];
  await accounts.holds(one.token);
  await accounts.signedIn(one.token);
  for (let again = 0; again < 2; again += 1) await accounts.signOut(two, caller());
  await accounts.endSession(one, before.session.id, caller());
  await signIn();
  for (let again = 0; again < 2; again += 1) await accounts.endOtherSessions(one, caller());
  await accounts.sessions(one);
  const changed = await accounts.changePassword(
    one,
    { currentPassword: password, newPassword: `${password}!` },
    caller(),
  );
  const reset = () =>
    createResetLink(world.store.database, cryptography.tokens, emailOf(changed), { removesTotp: false });
  await reset();
  return accounts.resetPassword({ token: await reset(), password }, caller());
}

async function secondFactor(me: OpenedSession): Promise<void> {
  for (let again = 0; again < 2; again += 1) {
    const { secret } = await accounts.beginTotp(me, { password }, caller());
    if (again === 0) continue;
    await assert.rejects(accounts.confirmTotp(me, { code: '000000' }, caller()));
    await accounts.confirmTotp(me, { code: codeOf(secret) }, caller());
    await accounts.removeTotp(me, { password, code: codeOf(secret, 1) }, caller());
  }
}

async function keys(me: OpenedSession): Promise<void> {
  const { id } = me.account;
  const input = { name: 'key', scopes: ['keys:write'] } as const;
  const { record } = await accounts.createKey(principalOf(me), input, { by: byOf(me) });
  const maker = { accountId: id, scopes: record.scopes, by: { kind: 'api_key', id: record.id } } as const;
  await accounts.createKey(maker, input, { by: byOf(me) });
  await accounts.currentKey(maker);
  for (let again = 0; again < 2; again += 1) await accounts.revokeKey(id, record.id, byOf(me));
  await accounts.keys(id);
}

async function devices(me: OpenedSession): Promise<void> {
  for (const scopes of [['agents:read'], null] as const) {
    const begun = await oauth.beginDevice({ clientName: 'build', scope: 'agents:read' }, '10.9.9.9');
    await oauth.waitingDevice(me, begun.userCode, caller());
    await oauth.decideDevice(me, begun.userCode, scopes, caller());
    if (scopes !== null) await oauth.redeemDevice(begun.deviceCode, caller());
    await assert.rejects(oauth.redeemDevice(begun.deviceCode, caller()));
  }
}

async function programs(me: OpenedSession): Promise<void> {
  const redirectUri = 'http://127.0.0.1/callback';
  const { id: clientId } = await oauth.registerClient({ name: 'P', redirectUris: [redirectUri] }, '10.9.9.9');
  const codeVerifier = randomBytes(32).toString('base64url');
  const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');
  const asked = { clientId, redirectUri, responseType: 'code', codeChallenge, codeChallengeMethod: 'S256' };
  const input = { ...asked, scope: 'agents:read', state: null, resource: null };
  await oauth.authorizationQuestion(me, input);
  const exchange = async () => {
    const answer = new URL(await oauth.decideAuthorization(me, input, ['agents:read'], caller()));
    const code = answer.searchParams.get('code')!;
    return { code, clientId, redirectUri, codeVerifier, resource: null };
  };
  const [one, two, three] = [await exchange(), await exchange(), await exchange()];
  const tokens = await oauth.exchangeCode(one, caller());
  const renewed = { refreshToken: tokens.refresh, clientId, scope: null, resource: null };
  await oauth.refresh(renewed, caller());
  await assert.rejects(oauth.exchangeCode(one, caller()), 'a code that comes twice ends the grant');
  const { access } = await oauth.exchangeCode(two, caller());
  for (let again = 0; again < 2; again += 1) await oauth.revokeToken({ token: access, clientId }, caller());
  const { grantId } = await oauth.exchangeCode(three, caller());
  await oauth.grants(me.account.id);
  await oauth.revokeGrant(me.account.id, grantId, byOf(me));
}

test('every use-case writes one event for what it changes, and none for what it finds done', async () => {
  const from = await sql<{ id: string }>('select coalesce(max(id), 0)::text as id from events');
  const me = await sessions(await people());
  await secondFactor(me);
  await keys(me);
  await devices(me);
  await programs(me);
  const wrong = await sql(`
    with told as (
      select xmin::text as xid, account_id, array_agg(type) as types, count(*) as n from events
      where id > ${from[0]!.id} group by 1, 2
    )
    select told.types, facts.xid is null as without_change from told
    full join (select distinct xid from facts) facts using (xid)
    where told.n is distinct from 1 or facts.xid is null
  `);
  assert.deepEqual(wrong, []);
  const all = [...Object.keys(world.accounts), ...Object.keys(world.accounts.oauth)];
  const apart = ['oauth', 'registrationOpen', 'csrfToken', 'close'];
  assert.deepEqual(
    all.filter((name) => !called.has(name) && !apart.includes(name)),
    [],
    'each use-case is tried here',
  );
});
