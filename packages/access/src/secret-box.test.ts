import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createSecretBox, SecretBoxError } from './secret-box.ts';

const masterKey = randomBytes(32);
const box = createSecretBox(masterKey);

test('what was sealed opens again, in the same place, also by a box of a later process', () => {
  for (const secret of ['', 'sk-proj-abc', 'clé ☃ 🔑', 'x'.repeat(100_000)]) {
    assert.equal(createSecretBox(masterKey).open(box.seal(secret, 'here'), 'here'), secret);
  }
});

test('a secret sealed for one agent does not open for another', () => {
  const sealed = box.seal('sk-a', 'llm_key:agentaaaaaaa:openai');
  assert.throws(() => box.open(sealed, 'llm_key:agentbbbbbbb:openai'), SecretBoxError);
});

test('every sealing differs, so equal secrets are not seen to be equal', () => {
  const sealed = new Set(Array.from({ length: 100 }, () => box.seal('same', 'c')));
  assert.equal(sealed.size, 100);
});

test('no bit of a sealed secret can be changed unnoticed', () => {
  const sealed = box.seal('sk-a', 'c');
  const payloadAt = sealed.lastIndexOf('.') + 1;
  const bytes = Buffer.from(sealed.slice(payloadAt), 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const damaged = Buffer.from(bytes);
    damaged[bit >> 3]! ^= 1 << (bit & 7);
    assert.throws(() => box.open(sealed.slice(0, payloadAt) + damaged.toString('base64url'), 'c'), SecretBoxError);
  }
});

test('another master key is told by the key id, and the error holds no secret', () => {
  const sealed = box.seal('sk-very-secret', 'c');
  assert.throws(
    () => createSecretBox(randomBytes(32)).open(sealed, 'c'),
    (error: Error) => /another master key/.test(error.message) && !error.message.includes('sk-very'),
  );
});

test('what is not a sealed secret is refused', () => {
  const keyId = box.seal('', 'c').split('.')[1];
  for (const wrong of ['', 'sk-plain', 'v1', 'v2.00000000.AAAA', `v1.${keyId}.AAAA`, `v1.${keyId}.AAAA.AAAA`]) {
    assert.throws(() => box.open(wrong, 'c'), SecretBoxError, wrong);
  }
});

test('a master key of a wrong length is refused', () => {
  assert.throws(() => createSecretBox(randomBytes(16)), SecretBoxError);
});
