import type { Scope } from '@lodge/domain';

/** Who a request comes from: an API key, or a person's session with the scopes of their role. */
export interface Principal {
  readonly accountId: string;
  readonly scopes: readonly Scope[];
  readonly by: PrincipalSource;
}

/** What a principal was known by. */
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

/** A key about to be stored: of its plaintext only hash and last four characters. */
export interface NewApiKey {
  readonly name: string;
  /** SHA-256 of the whole key, 32 bytes. */
  readonly hash: Uint8Array;
  readonly last4: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
}

/** Calls back with the id of a key whenever it was changed (revoked), in any process; null: any may have been. Returns the unsubscribe function. */
export interface ApiKeyChanges {
  onChange(listener: (keyId: string | null) => void): () => void;
}

/** API keys in the store: only their SHA-256 is there. */
export interface ApiKeyStore {
  findByHash(hash: Uint8Array): Promise<ApiKeyRow | null>;
  insert(accountId: string, key: NewApiKey): Promise<ApiKeyRow>;
  /** Key ids used since the last call and when; written in one statement. */
  recordUse(uses: ReadonlyMap<string, Date>): Promise<void>;
  /** In one transaction under a lock: makes the first account and its first key when there is no account, and returns the key's row; null (and nothing written) when an account exists already. An account without a key is never left behind. */
  createFirstAccount(name: string, key: NewApiKey): Promise<ApiKeyRow | null>;
}

export interface ApiKeyVerifier {
  /** Checks a presented key. Cached for at most a second, so a revoked key fails within one; at once where the store tells of it. */
  verify(presented: string): Promise<Principal | KeyRefusal>;
}
