import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BusyError } from '@lodge/ports';
import { Gate } from './gate.ts';
import { hashPassword, isOutdated, verifyPassword } from './passwords.ts';

test('a password is verified by its hash alone, and every hash has a salt of its own', async () => {
  const [one, two] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')]);
  assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  assert.notEqual(one, two);
  assert.equal(await verifyPassword('correct horse', one), true);
  assert.equal(await verifyPassword('correct horsf', one), false);
  assert.equal(await verifyPassword('', one), false);
});

test('nobody’s password is never right', async () => {
  assert.equal(await verifyPassword('', null), false);
  assert.equal(await verifyPassword('correct horse', null), false);
});

test('a letter typed as one character or as two is the same letter', async () => {
  assert.equal(await verifyPassword('cafe\u0301 au lait', await hashPassword('caf\u00e9 au lait')), true);
});

test('the reference implementation’s hash is understood, and known to be outdated', async () => {
  // From its test.c: password, somesalt, two passes over 64 MiB.
  const hash = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
  assert.equal(await verifyPassword('password', hash), true);
  assert.equal(isOutdated(hash), true);
  assert.equal(isOutdated(await hashPassword('x')), false);
});

test('a damaged hash is an error, not a wrong password', async () => {
  await assert.rejects(verifyPassword('x', '$2b$10$abc'), /damaged/);
});

test('a gate lets two through at once and so many wait; the next is turned away, and places come free again', async () => {
  const gate = new Gate({ atOnce: 2, waiting: 3 });
  let running = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running--;
  };
  const five = Array.from({ length: 5 }, () => gate.run(work));
  await assert.rejects(gate.run(work), BusyError);
  await Promise.all(five);
  assert.equal(most, 2);
  await assert.rejects(
    gate.run(() => Promise.reject(new Error('failed'))),
    /failed/,
  );
  await Promise.all(Array.from({ length: 5 }, () => gate.run(work)));
});
