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

export interface ApiKeyVerifier {
  /**
   * Checks a presented key. Results are cached for at most a second, so a revoked key fails within one second, and at once
   * where the store reports the change.
   */
  verify(presented: string): Promise<Principal | KeyRefusal>;
}
