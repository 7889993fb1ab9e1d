/** The actor: a signed-in person, an API key, or the operator at the command line. */
export interface Actor {
  readonly kind: 'account' | 'api_key' | 'operator';
  /** Id of the account or key; null for the operator. */
  readonly id: string | null;
}

/** An actor with the origin of the request. */
export interface By {
  readonly actor: Actor;
  /** The address of the request; null for the operator. */
  readonly address: string | null;
  readonly requestId: string | null;
}

/** The object of the action. */
export interface EventTarget {
  readonly kind: string;
  readonly id: string;
}
