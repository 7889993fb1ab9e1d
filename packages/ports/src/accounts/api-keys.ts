import type { Scope } from '@lodge/domain';

/** The caller of a request: an API key, or a person's session with the scopes of their role. */
export interface Principal {
  readonly accountId: string;
  readonly scopes: readonly Scope[];
  readonly by: PrincipalSource;
}

/** The key or session that a principal was recognised by. */
export interface PrincipalSource {
  readonly kind: 'api_key' | 'session';
  readonly id: string;
}

export type KeyRefusal = 'invalid_api_key' | 'revoked_api_key' | 'expired_api_key';

export interface ApiKeyRow {
  readonly id: string;
  readonly accountId: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** A key about to be stored. Only the hash and the last four characters of its plaintext are kept. */
export interface NewApiKey {
  readonly name: string;
  /** SHA-256 of the whole key, 32 bytes. */
  readonly hash: Uint8Array;
  readonly last4: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
  /** The key that makes it; null or absent when a person does. */
  readonly madeBy?: string | null;
}

/**
 * Calls back with a key's id whenever any process changed (revoked) it. Null means that any key may have changed. Returns
 * the unsubscribe function.
 */
export interface ApiKeyChanges {
  onChange(listener: (keyId: string | null) => void): () => void;
}

/** API keys in the store, which holds only their SHA-256. */
export interface ApiKeyStore {
  findByHash(hash: Uint8Array): Promise<ApiKeyRow | null>;
  insert(accountId: string, key: NewApiKey): Promise<ApiKeyRow>;
  /** Writes the key ids used since the last call and their times, in one statement. */
  recordUse(uses: ReadonlyMap<string, Date>): Promise<void>;
  /**
   * Makes the first account and its first key, in one transaction under a lock, and returns the key's row. When an account
   * exists already, it writes nothing and returns null. An account without a key is never left behind.
   */
  createFirstAccount(name: string, key: NewApiKey): Promise<ApiKeyRow | null>;
}

export interface ApiKeyVerifier {
  /**
   * Checks a presented key. Results are cached for at most a second, so a revoked key fails within one second, and at once
   * where the store reports the change.
   */
  verify(presented: string): Promise<Principal | KeyRefusal>;
}
