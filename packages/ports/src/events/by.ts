/** Who did it: a signed-in person, an API key, or the operator at the command line. */
export interface Actor {
  readonly kind: 'account' | 'api_key' | 'operator';
  /** Id of the account or key; null for the operator. */
  readonly id: string | null;
}

/** Who did it, and from where. */
export interface By {
  readonly actor: Actor;
  /** Where the request came from; null for the operator. */
  readonly address: string | null;
  readonly requestId: string | null;
}

/** What it was done to. */
export interface EventTarget {
  readonly kind: string;
  readonly id: string;
}
