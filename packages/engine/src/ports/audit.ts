/** Who did it: a signed-in person, an API key, or the operator at the command line. */
export interface Actor {
  readonly kind: 'account' | 'api_key' | 'operator';
  /** Id of the account or key; null for the operator. */
  readonly id: string | null;
}

/** What a change leaves behind. No secret is in it. */
export interface NewAuditEvent {
  /** Whose it is: only this account reads it. */
  readonly accountId: string;
  readonly actor: Actor;
  /** `<noun>.<verb in the past tense>`, such as `api_key.created`. */
  readonly action: `${string}.${string}`;
  readonly target: { readonly kind: string; readonly id: string } | null;
  /** Where the request came from; null for the operator. */
  readonly address: string | null;
  readonly requestId: string | null;
  readonly details: Readonly<Record<string, AuditDetail>>;
}

export type AuditDetail = string | number | boolean | null | readonly string[];

export interface AuditEvent extends NewAuditEvent {
  /** Rises in the order in which events of one account can be seen: who has read up to one misses none below it. */
  readonly id: bigint;
  readonly at: Date;
}

export interface AuditQuery {
  readonly accountId: string;
  readonly limit: number;
  /** Events after this id (`asc`) or before it (`desc`). */
  readonly from?: bigint;
  readonly direction: 'asc' | 'desc';
}

export interface AuditLog {
  page(query: AuditQuery): Promise<readonly AuditEvent[]>;
}
