import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { cryptography } from '@lodge/access';
import { deviceBounds } from '@lodge/domain';
import { execute } from '@lodge/testkit/postgres';
import { byOf, caller, principalOf, refusalOf, testAccounts } from '../../../../testkit/src/plane/accounts.ts';
import { keyByHash } from '@lodge/store/accounts';

const world = await testAccounts();
after(() => world.close());
const { accounts, store } = world;
const { oauth } = accounts;

let hosts = 0;
/** An address of a network that no other test uses. */
const elsewhere = (): string => `172.20.${hosts++}.9`;
const begin = (scope: string | null = null, address = elsewhere()) =>
  oauth.beginDevice({ clientName: 'build-7', scope }, address);
const ask = (code: string): Promise<string> => refusalOf(oauth.redeemDevice(code, caller()));
const sql = (text: string) => execute<Record<string, unknown>>(world.database.connectionString, text);
/** As if the machine had waited: a test does not. */
const patient = () => sql("update oauth_devices set polled_at = polled_at - interval '1 minute'");

test('a machine gets the key that its person approved, once, and only the holder of the device code does', async () => {
  const me = await world.member();
  const begun = await begin();
  assert.equal(await ask(begun.deviceCode), 'authorization_pending');
  const seen = await oauth.waitingDevice(me, begun.userCode.toLowerCase(), caller());
  assert.deepEqual(
    [seen.clientName, seen.grantable],
    ['build-7', ['agents:read', 'agents:write', 'agents:delete', 'usage:read', 'agents:chat']],
  );
  await oauth.decideDevice(me, begun.userCode, ['agents:read', 'agents:chat'], caller());
  assert.deepEqual(await accounts.keys(me.account.id), [], 'no key lies anywhere before it is fetched');
  await patient();
  const outcomes = await Promise.allSettled(
    Array.from({ length: 5 }, () => oauth.redeemDevice(begun.deviceCode, caller())),
  );
  const [made, ...more] = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  assert.equal(more.length, 0, 'of five at once one gets it');
  const { key, record } = made!;
  assert.deepEqual(await accounts.keys(me.account.id), [record]);
  assert.deepEqual(
    [record.name, record.scopes, record.last4],
    ['build-7', ['agents:read', 'agents:chat'], key.slice(-4)],
  );
  const stored = await store.database.repeatable((db) => keyByHash(db, cryptography.apiKeys.hash(key)));
  assert.deepEqual([stored, stored!.expiresAt, stored!.revokedAt], [record, null, null]);
  assert.equal(await ask(begun.deviceCode), 'invalid_grant');
  const events = await store.events.audit({ accountId: me.account.id, limit: 10, direction: 'asc' });
  assert.deepEqual(
    events.map(({ action }) => action),
    ['account.joined', 'device.approved', 'api_key.created'],
  );
  const rows = JSON.stringify(
    await sql('select to_jsonb(e) from events e union all select to_jsonb(d) from oauth_devices d'),
  );
  for (const secret of [key, begun.deviceCode]) assert.ok(!rows.includes(secret));
});

test('a refusal, an end and an unknown code are told apart to the machine, and impatience slows it down', async () => {
  const me = await world.member();
  const [denied, late, hasty] = [await begin(), await begin(), await begin()];
  await oauth.decideDevice(me, denied.userCode, null, caller());
  assert.equal(await ask(denied.deviceCode), 'access_denied');
  assert.equal(await refusalOf(oauth.waitingDevice(me, denied.userCode, caller())), 'device_code_not_found');
  await sql(`update oauth_devices set expires_at = now() where user_code = '${late.userCode.replace('-', '')}'`);
  assert.equal(await ask(late.deviceCode), 'expired_token');
  assert.equal(
    await refusalOf(oauth.decideDevice(me, late.userCode, ['agents:read'], caller())),
    'device_code_not_found',
  );
  assert.deepEqual([await ask(hasty.deviceCode), await ask(hasty.deviceCode)], ['authorization_pending', 'slow_down']);
  const [row] = await sql(
    `select interval_seconds from oauth_devices where user_code = '${hasty.userCode.replace('-', '')}'`,
  );
  assert.equal(row!['interval_seconds'], 2 * deviceBounds.intervalSeconds);
  await patient();
  assert.equal(await ask(hasty.deviceCode), 'authorization_pending');
  for (const code of ['', 'x', cryptography.tokens.make()]) assert.equal(await ask(code), 'invalid_grant');
});

test('a person gives no more than was asked for, and no more than their role has', async () => {
  const invitation = await accounts.invite(world.owner, { email: null, role: 'viewer' }, caller());
  const viewer = await accounts.acceptInvitation(
    { token: invitation.token, email: 'v@example.com', name: 'V', password: 'correct horse battery staple' },
    caller(),
  );
  const begun = await begin('agents:read agents:write keys:write');
  const { grantable } = await oauth.waitingDevice(viewer, begun.userCode, caller());
  assert.deepEqual(grantable, ['agents:read']);
  for (const scopes of [['agents:write'], ['usage:read'], []] as const) {
    assert.equal(await refusalOf(oauth.decideDevice(viewer, begun.userCode, scopes, caller())), 'invalid_request');
  }
  await oauth.decideDevice(viewer, begun.userCode, grantable, caller());
  assert.deepEqual((await oauth.redeemDevice(begun.deviceCode, caller())).record.scopes, ['agents:read']);
  for (const scope of ['agents:all', 'agents:read admin']) assert.equal(await refusalOf(begin(scope)), 'invalid_scope');
});

test('codes that are guessed are counted by person, and a right one is given back', async () => {
  const [guesser, other] = [await world.member(), await world.member()];
  const from = caller(elsewhere());
  const guess = () => refusalOf(oauth.waitingDevice(guesser, 'BBBB-BBBB', from));
  for (let i = 0; i < 10; i += 1) assert.equal(await guess(), 'device_code_not_found');
  assert.equal(await guess(), 'rate_limit_exceeded');
  const begun = await begin();
  assert.equal(await refusalOf(oauth.waitingDevice(guesser, begun.userCode, from)), 'rate_limit_exceeded');
  for (let i = 0; i < 15; i += 1) await oauth.waitingDevice(other, begun.userCode, from);
});

test('the requests that wait are bounded by network, also when they come at once', async () => {
  const address = elsewhere();
  const made = await Promise.all(Array.from({ length: 30 }, () => refusalOf(begin(null, address))));
  assert.equal(made.filter((outcome) => outcome === 'nothing').length, deviceBounds.maxPendingOfNetwork);
  assert.equal(made.filter((outcome) => outcome === 'rate_limit_exceeded').length, 10);
  assert.equal(await refusalOf(begin()), 'nothing');
  await sql(`update oauth_devices set expires_at = now() - interval '2 hours' where address = '${address}'`);
  assert.equal(await refusalOf(begin(null, address)), 'nothing', 'old ones make room, and are gone');
  const [left] = await sql(`select count(*)::int as n from oauth_devices where address = '${address}'`);
  assert.equal(left!['n'], 1);
});

test('a key makes keys with no more scopes and no longer life, and they end with it', async () => {
  const me = await world.member();
  const expiresAt = new Date(Date.now() + 3_600_000);
  const by = byOf(me);
  const root = await accounts.createKey(
    principalOf(me),
    { name: 'r', scopes: ['agents:read', 'keys:write'], expiresAt },
    { by },
  );
  const maker = {
    accountId: me.account.id,
    scopes: root.record.scopes,
    by: { kind: 'api_key', id: root.record.id },
  } as const;
  const make = (input: object) =>
    accounts.createKey(maker, { name: 'c', scopes: ['agents:read'] as const, ...input }, { by });
  assert.equal(await refusalOf(make({ scopes: ['agents:write'] })), 'insufficient_scope');
  assert.equal(await refusalOf(make({ expiresAt: null })), 'invalid_request');
  assert.equal(await refusalOf(make({ expiresAt: new Date(expiresAt.getTime() + 1) })), 'invalid_request');
  const child = await make({ scopes: ['agents:read', 'keys:write'] });
  assert.deepEqual([child.record.expiresAt, child.record.madeBy], [expiresAt, root.record.id]);
  const grandchild = await accounts.createKey(
    { ...maker, by: { kind: 'api_key', id: child.record.id } },
    { name: 'g', scopes: ['agents:read'] },
    { by },
  );
  await accounts.revokeKey(me.account.id, root.record.id, by);
  const left = (await accounts.keys(me.account.id)).filter(({ revokedAt }) => revokedAt === null);
  assert.deepEqual(left, []);
  assert.equal(await refusalOf(make({})), 'revoked_api_key');
  const [event] = await store.events.audit({ accountId: me.account.id, limit: 1, direction: 'desc' });
  assert.deepEqual(event!.details, { with: [child.record.id, grandchild.record.id].toSorted() });
});
