/** Codes of the second factor: TOTP (RFC 6238: SHA-1, six digits, 30 s, which every authenticator has) and recovery codes. */
import { createHash, randomBytes } from 'node:crypto';
import type { Code } from '@lodge/ports';
import { Secret, TOTP } from 'otpauth';

const issuer = 'Lodge';
const period = 30;
const settings = { algorithm: 'SHA1', digits: 6, period } as const;
/** Steps before and after the present one whose codes are taken: clocks differ, and people type. */
const window = 1;
const recoveryCodes = 10;
/** 80 bits: nobody guesses them, hashed plainly or not. */
const recoveryCodeBytes = 10;

/** 160 random bits in base32. */
export function makeTotpSecret(): string {
  return new Secret({ buffer: Uint8Array.from(randomBytes(20)).buffer }).base32;
}

/** What authenticators read from a QR code. */
export function totpUrl(secret: string, label: string): string {
  return new TOTP({ issuer, label, secret, ...settings }).toString();
}

/** The time step whose code this is, or null: what is stored of a code that was used. */
export function totpStep(secret: string, code: string, now: Date): number | null {
  const timestamp = now.getTime();
  const delta = new TOTP({ secret, ...settings }).validate({ token: code, timestamp, window });
  return delta === null ? null : Math.floor(timestamp / 1000 / period) + delta;
}

/** A code as a person typed it: spaces, dashes and case do not count. */
export function readCode(text: string): Code {
  const plain = text.replaceAll(/[\s-]/g, '').toUpperCase();
  return /^\d{6}$/.test(plain) ? { kind: 'totp', digits: plain } : { kind: 'recovery', hash: hashRecoveryCode(plain) };
}

/** Ten of `xxxx-xxxx-xxxx-xxxx`, with what the store holds of each. */
export function makeRecoveryCodes(): { readonly codes: readonly string[]; readonly hashes: readonly Buffer[] } {
  const plain = Array.from(
    { length: recoveryCodes },
    () => new Secret({ buffer: Uint8Array.from(randomBytes(recoveryCodeBytes)).buffer }).base32,
  );
  return {
    codes: plain.map((code) => code.toLowerCase().replaceAll(/(.{4})(?=.)/g, '$1-')),
    hashes: plain.map(hashRecoveryCode),
  };
}

function hashRecoveryCode(plain: string): Buffer {
  return createHash('sha256').update(`lodge recovery code ${plain}`, 'utf8').digest();
}
