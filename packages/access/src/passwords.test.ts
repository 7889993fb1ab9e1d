import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashPassword, isOutdated, verifyPassword } from './passwords.ts';

const address = '192.0.2.7';

test('a password is verified by its hash alone, and every hash has a salt of its own', async () => {
  const [one, two] = await Promise.all([
    hashPassword('correct horse', address),
    hashPassword('correct horse', address),
  ]);
  assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  assert.notEqual(one, two);
  assert.equal(await verifyPassword('correct horse', one, address), true);
  assert.equal(await verifyPassword('correct horsf', one, address), false);
  assert.equal(await verifyPassword('', one, address), false);
});

test('nobody’s password is never right', async () => {
  assert.equal(await verifyPassword('', null, address), false);
  assert.equal(await verifyPassword('correct horse', null, address), false);
});

test('a letter typed as one character or as two is the same letter', async () => {
  assert.equal(
    await verifyPassword('cafe\u0301 au lait', await hashPassword('caf\u00e9 au lait', address), address),
    true,
  );
});

test('the reference implementation’s hash is understood, and known to be outdated', async () => {
  // The values are from its test.c: password, somesalt, two passes over 64 MiB.
  const hash = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
  assert.equal(await verifyPassword('password', hash, address), true);
  assert.equal(isOutdated(hash), true);
  assert.equal(isOutdated(await hashPassword('x', address)), false);
});

test('a damaged hash is an error, not a wrong password', async () => {
  await assert.rejects(verifyPassword('x', '$2b$10$abc', address), /damaged/);
});
