import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret } from 'otpauth';
import { makeRecoveryCodes, makeTotpSecret, readCode, totpStep, totpUrl } from './second-factor.ts';

const secret = Secret.fromLatin1('12345678901234567890').base32;
const at = (seconds: number): Date => new Date(seconds * 1000);

test('codes are those of RFC 6238 (appendix B, the last six digits)', () => {
  for (const [seconds, code] of [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_234_567_890, '005924'],
    [20_000_000_000, '353130'],
  ] as const) {
    assert.equal(totpStep(secret, code, at(seconds)), Math.floor(seconds / 30));
  }
});

test('the code of the step before and after is taken, with its own step; further ones are not', () => {
  const code = '005924';
  const step = Math.floor(1_234_567_890 / 30);
  for (const steps of [-1, 0, 1]) assert.equal(totpStep(secret, code, at((step + steps) * 30 + 15)), step);
  for (const steps of [-2, 2]) assert.equal(totpStep(secret, code, at((step + steps) * 30 + 15)), null);
});

test('what is typed with spaces, dashes or in another case is the same code', () => {
  assert.deepEqual(readCode(' 287 082 '), { kind: 'totp', digits: '287082' });
  const { codes, hashes } = makeRecoveryCodes();
  assert.deepEqual(readCode(codes[0]!), { kind: 'recovery', hash: hashes[0] });
  assert.deepEqual(readCode(codes[0]!.replaceAll('-', ' ').toUpperCase()), { kind: 'recovery', hash: hashes[0] });
});

test('ten recovery codes of 80 bits, each another', () => {
  const { codes, hashes } = makeRecoveryCodes();
  assert.equal(new Set(codes).size, 10);
  assert.equal(new Set(hashes.map(String)).size, 10);
  for (const code of codes) assert.match(code, /^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/);
});

test('a secret has 160 bits, and its URL is what authenticators read', () => {
  const made = makeTotpSecret();
  assert.match(made, /^[A-Z2-7]{32}$/);
  assert.notEqual(makeTotpSecret(), made);
  const url = new URL(totpUrl(made, 'ada@example.com'));
  assert.equal(url.protocol, 'otpauth:');
  assert.equal(url.searchParams.get('secret'), made);
  assert.equal(url.searchParams.get('issuer'), 'Lodge');
});
