/**
 * Authenticated encryption of secrets at rest. `context` is bound to the ciphertext: a secret sealed for one place does not
 * open in another.
 */
export interface SecretBox {
  seal(plaintext: string, context: string): string;
  /** Throws when the key, the context or the bytes are not the ones it was sealed with. */
  open(sealed: string, context: string): string;
  /**
   * A digest of the secret under a key of the box's own, 32 hexadecimal digits: the same for the same secret in the same
   * context, until the master key changes. It tells nothing to anybody without that key.
   */
  fingerprint(secret: string, context: string): string;
}

/** The key that secrets are sealed with, itself sealed with the master key. */
export interface DataKeyRow {
  readonly id: string;
  readonly wrapped: string;
  /** Fingerprint of the master key that opens it. */
  readonly masterKeyId: string;
}

export interface DataKeyStore {
  all(): Promise<readonly DataKeyRow[]>;
  /** Writes nothing when the master key already has a data key. */
  insert(row: DataKeyRow): Promise<void>;
  /** Removes every data key but this one. */
  keepOnly(id: string): Promise<void>;
}

/** A sealed secret and its place in the database. */
export interface SealedValue {
  readonly place: string;
  readonly id: readonly string[];
  readonly sealed: string;
  readonly context: string;
}

/** Every sealed secret of the deployment, in every table. */
export interface SealedValueStore {
  /** Returns at most `limit` values that do not begin with `prefix`, or none when all do. */
  notUnder(prefix: string, limit: number): Promise<readonly SealedValue[]>;
  /** Writes `sealed` in the value's place. Does nothing when the place holds another value by now. */
  replace(value: SealedValue, sealed: string): Promise<void>;
  /** The number of control planes connected to the database now. */
  connectedServers(): Promise<number>;
}

/** The context of an account's second factor. */
export const totpContext = (accountId: string): string => `totp:${accountId}`;
