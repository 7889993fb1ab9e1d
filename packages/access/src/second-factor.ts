/** Codes of the second factor: TOTP (RFC 6238: SHA-1, six digits, 30 s, which every authenticator has) and recovery codes. */
import { createHash, randomBytes } from 'node:crypto';
import type { Code } from '@lodge/ports';
import { Secret, TOTP } from 'otpauth';

const issuer = 'Lodge';
const period = 30;
const settings = { algorithm: 'SHA1', digits: 6, period } as const;
/** Steps before and after the present one whose codes are accepted, because clocks differ and people type. */
const window = 1;
const recoveryCodes = 10;
/** 80 bits, which nobody guesses, even with a plain hash. */
const recoveryCodeBytes = 10;

/** 160 random bits in base32. */
export function makeTotpSecret(): string {
  return new Secret({ buffer: Uint8Array.from(randomBytes(20)).buffer }).base32;
}

/** Returns the URL that authenticators read from a QR code. */
export function totpUrl(secret: string, label: string): string {
  return new TOTP({ issuer, label, secret, ...settings }).toString();
}

/** Returns the time step of this code, or null when it is wrong. The step is stored when a code is used. */
export function totpStep(secret: string, code: string, now: Date): number | null {
  const timestamp = now.getTime();
  const delta = new TOTP({ secret, ...settings }).validate({ token: code, timestamp, window });
  return delta === null ? null : Math.floor(timestamp / 1000 / period) + delta;
}

/** Reads a code as a person types it: spaces, dashes and case do not count. */
export function readCode(text: string): Code {
  const plain = text.replaceAll(/[\s-]/g, '').toUpperCase();
  return /^\d{6}$/.test(plain) ? { kind: 'totp', digits: plain } : { kind: 'recovery', hash: hashRecoveryCode(plain) };
}

/** Makes ten codes `xxxx-xxxx-xxxx-xxxx`, with the hashes for the store. */
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
