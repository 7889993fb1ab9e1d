/** A request that must take effect once, however often it is sent. */
export interface IdempotentRequest {
  readonly accountId: string;
  /** The client's `Idempotency-Key`. */
  readonly key: string;
  /** Digest of method, path and body. */
  readonly fingerprint: Buffer;
  /** Id of the agent that the request creates, if any. The first request's id is kept for all repetitions. */
  readonly agentId: string;
}

/** A reply for repeated sending. It contains no secret. */
export interface StoredReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The right to carry out a request while it is renewed. */
export interface Claim {
  readonly accountId: string;
  readonly key: string;
  /** Names this attempt. An attempt that has lost the right to another writes nothing. */
  readonly attempt: string;
  readonly agentId: string;
  /** Whether an earlier attempt already took effect and only its reply was lost. */
  readonly effective: boolean;
}

export type ClaimOutcome =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  | { readonly kind: 'replay'; readonly reply: StoredReply }
  /** The request was carried out, and its reply is not kept: it was a stream, too large, or found no room. */
  | { readonly kind: 'not_kept' }
  /** The account has too many keys, and none is old enough to be removed. */
  | { readonly kind: 'full' }
  | { readonly kind: 'in_progress' }
  /** The key came with another request before. */
  | { readonly kind: 'reused' };

/** Requests by their `Idempotency-Key`, kept for 24 hours. Accounts with very many keys keep them for at least an hour. */
export interface IdempotencyStore {
  /** Claims the request for `leaseMs`. A claim also succeeds after an earlier attempt was abandoned or its process died. */
  claim(request: IdempotentRequest, leaseMs: number): Promise<ClaimOutcome>;
  renew(claims: readonly Claim[], leaseMs: number): Promise<void>;
  /** Stores the reply when the account's replies have room for it; null when it cannot be kept. */
  complete(claim: Claim, reply: StoredReply | null): Promise<void>;
  /** Abandons the request, so the next attempt may come at once. */
  abandon(claim: Claim): Promise<void>;
  /** Deletes rows older than 24 hours, and the oldest keys and replies of accounts that have too many. */
  prune(): Promise<void>;
}
