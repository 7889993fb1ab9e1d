import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createSecretBox } from '@lodge/access';
import { createFingerprints } from './fingerprints.ts';

const masterKey = randomBytes(32);
const box = createSecretBox(masterKey);
const prints = createFingerprints(box);

test('a stored secret has the fingerprint of its value, in each process, and its sealing changes nothing', () => {
  const given = prints.of('acc', 'llm_key', 'sk-one');
  assert.match(given, /^[0-9a-f]{32}$/);
  assert.equal(createFingerprints(createSecretBox(masterKey)).of('acc', 'llm_key', 'sk-one'), given);
  for (const context of ['here', 'there', 'here']) {
    const sealed = box.seal('sk-one', context);
    assert.equal(prints.ofSealed('acc', 'llm_key', sealed, context), given);
    assert.equal(prints.ofSealed('acc', 'llm_key', sealed, context), given, 'remembered');
  }
  assert.notEqual(prints.of('acc', 'llm_key', 'sk-two'), given);
});

test('equal secrets of two accounts, of two kinds or under two master keys have different fingerprints', () => {
  const all = [
    prints.of('acc', 'llm_key', 'same'),
    prints.of('other', 'llm_key', 'same'),
    prints.of('acc', 'hook', 'same'),
    createFingerprints(createSecretBox(randomBytes(32))).of('acc', 'llm_key', 'same'),
  ];
  assert.equal(new Set(all).size, all.length);
});

test('a secret that does not open has no fingerprint, and the others go on', () => {
  const sealed = createSecretBox(randomBytes(32)).seal('sk', 'here');
  assert.equal(prints.ofSealed('acc', 'llm_key', sealed, 'here'), null);
  assert.equal(prints.ofSealed('acc', 'llm_key', 'no sealed secret', 'here'), null);
});

test('many secrets do not hold memory for ever, and the last ones are still right', () => {
  const few = createFingerprints({ ...box, open: (sealed) => sealed });
  for (let n = 0; n < 20_000; n += 1) few.ofSealed('acc', 'hook', `s${n}`, 'c');
  assert.equal(few.ofSealed('acc', 'hook', 's1', 'c'), few.of('acc', 'hook', 's1'));
});
