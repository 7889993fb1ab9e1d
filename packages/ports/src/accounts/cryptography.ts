/** Cryptography of identity, as the use-cases of accounts need it. What it makes is random; what it hashes is what the store holds. */

/** Tokens of sessions and links: 256 random bits, of which the store holds the hash alone. */
export interface Tokens {
  make(): string;
  /** Whether `presented` could be one of ours: others cost no look-up. */
  isWellFormed(presented: string): boolean;
  /** SHA-256, 32 bytes. */
  hash(token: string): Uint8Array;
  /** The token that goes with a session's: whoever has it cannot tell the session's from it. */
  csrfOf(sessionToken: string): string;
}

/** API keys: the same, in the form that users see. */
export interface ApiKeys {
  make(): string;
  isWellFormed(presented: string): boolean;
  /** SHA-256, 32 bytes. */
  hash(key: string): Uint8Array;
  lastFour(key: string): string;
}

/** More password work waits than may wait. */
export class BusyError extends Error {
  constructor() {
    super('too much work waits already');
    this.name = 'BusyError';
  }
}

/**
 * Passwords at rest. Each call takes some 30 ms of a processor; what is too much at once rejects with `BusyError`. `address` is the
 * caller's: of one network and one site only so much may wait.
 */
export interface Passwords {
  hash(password: string, address: string): Promise<string>;
  /** Takes as long for `null`, an account that is not there, as for a wrong password. */
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
  /** What authenticators read from a QR code. */
  url(secret: string, label: string): string;
  /** The time step whose code this is, or null: what is stored of a code that was used. */
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
