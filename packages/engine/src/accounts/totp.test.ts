import { cryptography } from '@lodge/access';
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { execute } from '@lodge/testkit/postgres';
import { caller, codeOf, password, refusalOf, testAccounts } from '../../../testkit/src/plane/accounts.ts';
import { createResetLink } from './operator-links.ts';
import type { OpenedSession } from './signed-in.ts';

const world = await testAccounts();
after(() => world.close());
const { accounts, store } = world;

/** A member whose second factor is in force. The codes of this step and of earlier ones are used. */
async function withTotp(): Promise<{ me: OpenedSession; email: string; secret: string; codes: readonly string[] }> {
  const me = await world.member();
  const { secret } = await accounts.beginTotp(me, { password }, caller());
  const codes = await accounts.confirmTotp(me, { code: codeOf(secret, -1) }, caller());
  return { me, email: me.account.email!, secret, codes };
}

test('a second factor is asked for only once it was confirmed by a code', async () => {
  const me = await world.member();
  const email = me.account.email!;
  const { secret, url } = await accounts.beginTotp(me, { password }, caller());
  assert.ok(url.startsWith('otpauth://totp/'));
  await accounts.signIn({ email, password }, caller());
  assert.equal(await refusalOf(accounts.confirmTotp(me, { code: '000000' }, caller())), 'invalid_code');
  await accounts.confirmTotp(me, { code: codeOf(secret) }, caller());
  assert.equal(await refusalOf(accounts.signIn({ email, password }, caller())), 'second_factor_required');
  assert.equal(await refusalOf(accounts.beginTotp(me, { password }, caller())), 'invalid_request');
});

test('whether there is a second factor is told to nobody who lacks the password', async () => {
  const { email } = await withTotp();
  assert.equal(
    await refusalOf(accounts.signIn({ email, password: 'wrong password' }, caller())),
    'invalid_credentials',
  );
  const guess = accounts.signIn({ email, password: 'wrong password', code: '123456' }, caller());
  assert.equal(await refusalOf(guess), 'invalid_credentials');
});

test('a code works once, also when ten use it at the same moment, and an earlier one not after a later one', async () => {
  const { email, secret } = await withTotp();
  const code = codeOf(secret, 0);
  const outcomes = await Promise.all(
    Array.from({ length: 4 }, () => refusalOf(accounts.signIn({ email, password, code }, caller()))),
  );
  assert.deepEqual(outcomes.toSorted(), ['invalid_code', 'invalid_code', 'invalid_code', 'nothing']);
  assert.equal(
    await refusalOf(accounts.signIn({ email, password, code: codeOf(secret, -1) }, caller())),
    'invalid_code',
  );
  await execute(world.database.connectionString, 'delete from attempts');
  assert.equal(await refusalOf(accounts.signIn({ email, password, code: codeOf(secret, 1) }, caller())), 'nothing');
});

test('the code that put the factor in force does not sign in', async () => {
  const me = await world.member();
  const { secret } = await accounts.beginTotp(me, { password }, caller());
  const code = codeOf(secret);
  await accounts.confirmTotp(me, { code }, caller());
  const again = accounts.signIn({ email: me.account.email!, password, code }, caller());
  assert.equal(await refusalOf(again), 'invalid_code');
});

test('each recovery code works once, in place of a code, and is at rest as a hash', async () => {
  const { email, codes } = await withTotp();
  assert.equal(codes.length, 10);
  const rows = await execute<{ row: string }>(
    world.database.connectionString,
    'select recovery_codes::text as row from recovery_codes',
  );
  for (const { row } of rows) assert.ok(!codes.some((code) => row.includes(code)));
  await accounts.signIn({ email, password, code: codes[3]!.toUpperCase() }, caller());
  assert.equal(await refusalOf(accounts.signIn({ email, password, code: codes[3]! }, caller())), 'invalid_code');
  await accounts.signIn({ email, password, code: codes[4]! }, caller());
});

test('another account’s codes are none', async () => {
  const [mine, theirs] = [await withTotp(), await withTotp()];
  for (const code of [codeOf(theirs.secret), theirs.codes[0]!]) {
    const crossed = accounts.signIn({ email: mine.email, password, code }, caller());
    assert.equal(await refusalOf(crossed), 'invalid_code');
  }
});

test('guessing codes is slowed after five', async () => {
  const { email } = await withTotp();
  const outcomes: string[] = [];
  for (let i = 0; i < 9; i++) {
    outcomes.push(await refusalOf(accounts.signIn({ email, password, code: String(100_000 + i) }, caller())));
  }
  assert.ok(outcomes.filter((outcome) => outcome === 'rate_limit_exceeded').length >= 2, outcomes.join());
  assert.ok(!outcomes.includes('nothing'));
});

test('it is taken off by password and code together, and its recovery codes with it', async () => {
  const { me, email, secret, codes } = await withTotp();
  const code = codeOf(secret, 0);
  assert.equal(
    await refusalOf(accounts.removeTotp(me, { password: 'wrong password', code }, caller())),
    'invalid_credentials',
  );
  assert.equal(await refusalOf(accounts.removeTotp(me, { password, code: '000000' }, caller())), 'invalid_code');
  await accounts.removeTotp(me, { password, code }, caller());
  await accounts.signIn({ email, password }, caller());
  const { secret: next } = await accounts.beginTotp(me, { password }, caller());
  await accounts.confirmTotp(me, { code: codeOf(next, -1) }, caller());
  assert.equal(await refusalOf(accounts.signIn({ email, password, code: codes[0]! }, caller())), 'invalid_code');
});

test('a reset link asks for the factor and stays good until it is given; one that takes it off does', async () => {
  const { me, email, secret } = await withTotp();
  const token = await createResetLink(store.database, cryptography.tokens, email, { removesTotp: false });
  const input = { token, password: 'set by the reset link' };
  assert.equal(await refusalOf(accounts.resetPassword(input, caller())), 'second_factor_required');
  assert.equal(await refusalOf(accounts.resetPassword({ ...input, code: '000000' }, caller())), 'invalid_code');
  assert.ok(await accounts.signedIn(me.token), 'nothing was changed');
  await accounts.resetPassword({ ...input, code: codeOf(secret, 0) }, caller());
  assert.equal(
    await refusalOf(accounts.signIn({ email, password: input.password }, caller())),
    'second_factor_required',
  );

  const removing = await createResetLink(store.database, cryptography.tokens, email, { removesTotp: true });
  const opened = await accounts.resetPassword({ token: removing, password: 'another new password' }, caller());
  assert.equal(opened.account.totpSealed, null);
  await accounts.signIn({ email, password: 'another new password' }, caller());
});

test('the secret is sealed in the database', async () => {
  const { me, secret } = await withTotp();
  const [row] = await execute<{ row: string }>(
    world.database.connectionString,
    `select accounts::text as row from accounts where id = '${me.account.id}'`,
  );
  assert.ok(!row!.row.includes(secret));
  assert.match(row!.row, /v2\./);
});
