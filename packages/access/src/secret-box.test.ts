import assert from 'node:assert/strict';
import { createCipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { SecretBoxError } from './aead.ts';
import { makeDataKey, unwrapDataKey } from './data-key.ts';
import { createSecretBox } from './secret-box.ts';

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

test('another key is told by the key id, and the error holds no secret', () => {
  const sealed = box.seal('sk-very-secret', 'c');
  assert.throws(
    () => createSecretBox(randomBytes(32)).open(sealed, 'c'),
    (error: Error) => /another key/.test(error.message) && !error.message.includes('sk-very'),
  );
});

test('what is not a sealed secret is refused', () => {
  const keyId = box.seal('', 'c').split('.')[1];
  for (const wrong of ['', 'sk-plain', 'v1', 'v3.00000000.AAAA', `v2.${keyId}.AAAA`, `v2.${keyId}.AAAA.AAAA`]) {
    assert.throws(() => box.open(wrong, 'c'), SecretBoxError, wrong);
  }
});

test('a fingerprint is of the secret, its context and the master key, and survives a change of the data key', () => {
  const print = box.fingerprint('sk-a', 'here');
  assert.match(print, /^[0-9a-f]{32}$/);
  const later = createSecretBox(masterKey, unwrapDataKey(masterKey, makeDataKey(masterKey)));
  assert.equal(later.fingerprint('sk-a', 'here'), print);
  const others = [
    box.fingerprint('sk-b', 'here'),
    box.fingerprint('sk-a', 'there'),
    box.fingerprint('e', 'sk-aher'),
    createSecretBox(randomBytes(32)).fingerprint('sk-a', 'here'),
    createHash('sha256').update('sk-a').digest('hex').slice(0, 32),
  ];
  assert.equal(new Set([print, ...others]).size, 6);
});

test('a master key of a wrong length is refused', () => {
  assert.throws(() => createSecretBox(randomBytes(16)), SecretBoxError);
});

test('what an earlier release sealed, with the master key itself, still opens in its place', () => {
  const id = createHash('sha256').update('lodge master key id').update(masterKey).digest('hex').slice(0, 8);
  const key = Buffer.from(hkdfSync('sha256', masterKey, '', 'lodge secret box v1', 32));
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(`v1.${id}.here`));
  const bytes = Buffer.concat([nonce, cipher.update('sk-old'), cipher.final(), cipher.getAuthTag()]);
  const sealed = `v1.${id}.${bytes.toString('base64url')}`;
  const later = createSecretBox(masterKey, unwrapDataKey(masterKey, makeDataKey(masterKey)));
  assert.equal(later.open(sealed, 'here'), 'sk-old');
  assert.throws(() => later.open(sealed, 'there'), SecretBoxError);
});

test('a data key opens with the master key that wrapped it, under its own id, and with no other', () => {
  const row = makeDataKey(masterKey);
  const { key } = unwrapDataKey(masterKey, row);
  assert.equal(key.length, 32);
  assert.ok(!row.wrapped.includes(key.toString('base64url')));
  assert.throws(() => unwrapDataKey(randomBytes(32), row), SecretBoxError);
  assert.throws(() => unwrapDataKey(masterKey, { ...row, id: 'another' }), SecretBoxError);
});
