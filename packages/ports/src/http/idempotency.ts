/** A request that must have its effect once, however often it is sent. */
export interface IdempotentRequest {
  readonly accountId: string;
  /** The client's `Idempotency-Key`. */
  readonly key: string;
  /** Digest of method, path and body. */
  readonly fingerprint: Buffer;
  /** Id of the agent that the request makes, if it makes one; the first request's is kept for all that follow. */
  readonly agentId: string;
}

/** A reply as it is sent again. No secret is in one. */
export interface StoredReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The right to carry a request out, for as long as it is renewed. */
export interface Claim {
  readonly accountId: string;
  readonly key: string;
  /** Names this very attempt: whoever comes after another has lost the right writes nothing. */
  readonly attempt: string;
  readonly agentId: string;
  /** Whether an earlier attempt already had its effect, and only its reply was lost. */
  readonly effective: boolean;
}

export type ClaimOutcome =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  | { readonly kind: 'replay'; readonly reply: StoredReply }
  /** It was carried out, and its reply (a stream, too large, or one that found no room) is not kept. */
  | { readonly kind: 'not_kept' }
  /** The account has so many keys that none can be added, and none is old enough to go. */
  | { readonly kind: 'full' }
  | { readonly kind: 'in_progress' }
  /** The key came with another request before. */
  | { readonly kind: 'reused' };

/** Requests by their `Idempotency-Key`, for 24 hours; of accounts with very many, for an hour at least. */
export interface IdempotencyStore {
  /** Claims the request for `leaseMs`, also where an earlier attempt was given up or its process is gone. */
  claim(request: IdempotentRequest, leaseMs: number): Promise<ClaimOutcome>;
  renew(claims: readonly Claim[], leaseMs: number): Promise<void>;
  /** Keeps the reply where the account's replies have room for it; null where it cannot be kept. */
  complete(claim: Claim, reply: StoredReply | null): Promise<void>;
  /** Gives the request up: the next attempt may come at once. */
  abandon(claim: Claim): Promise<void>;
  /** Forgets what is older than 24 hours, and the oldest keys and replies of accounts that have too many. */
  prune(): Promise<void>;
}
