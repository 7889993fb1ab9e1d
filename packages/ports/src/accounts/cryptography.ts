/**
 * Cryptography of identity, as the use-cases of accounts need it. Made values are random; hashes are what the store holds.
 */
import { NamedError } from '@lodge/domain';

/** Tokens of sessions and links: 256 random bits. The store holds only the hash. */
export interface Tokens {
  make(): string;
  /** Whether `presented` has the form of our tokens. Others cost no look-up. */
  isWellFormed(presented: string): boolean;
  /** SHA-256, 32 bytes. */
  hash(token: string): Uint8Array;
  /** Derives the CSRF token of a session. It does not reveal the session's token. */
  csrfOf(sessionToken: string): string;
  /** The short code that a person compares, see `readUserCode`. */
  makeUserCode(): string;
}

/** API keys, made and hashed like tokens, in the form that users see. */
export interface ApiKeys {
  make(): string;
  isWellFormed(presented: string): boolean;
  /** SHA-256, 32 bytes. */
  hash(key: string): Uint8Array;
  lastFour(key: string): string;
}

/** Thrown when more password work waits than may wait. */
export class BusyError extends NamedError {
  constructor() {
    super('too much work waits already');
  }
}

/**
 * Passwords at rest. Each call takes some 30 ms of a processor, and calls beyond a bound reject with `BusyError`. `address`
 * is the caller's; the waiting work of one network and one site is bounded too.
 */
export interface Passwords {
  hash(password: string, address: string): Promise<string>;
  /** Takes as long for `null`, a missing account, as for a wrong password. */
  verify(password: string, hash: string | null, address: string): Promise<boolean>;
  /** Whether a hash was made with other parameters than today's. */
  isOutdated(hash: string): boolean;
}

/** A code of the second factor as a person typed it. */
export type Code =
  | { readonly kind: 'totp'; readonly digits: string }
  | { readonly kind: 'recovery'; readonly hash: Uint8Array };

/** Second factors: TOTP (RFC 6238) and recovery codes. */
export interface SecondFactors {
  /** 160 random bits in base32. */
  makeSecret(): string;
  /** The URL that authenticators read from a QR code. */
  url(secret: string, label: string): string;
  /** Returns the time step of this code, or null when it is wrong. The step is stored when a code is used. */
  step(secret: string, code: string, now: Date): number | null;
  readCode(text: string): Code;
  makeRecoveryCodes(): { readonly codes: readonly string[]; readonly hashes: readonly Uint8Array[] };
}

export interface Cryptography {
  readonly tokens: Tokens;
  readonly apiKeys: ApiKeys;
  readonly passwords: Passwords;
  readonly secondFactors: SecondFactors;
}
