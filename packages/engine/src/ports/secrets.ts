/** Authenticated encryption of secrets at rest. `context` is bound to the ciphertext: what was sealed for one place does not open in another. */
export interface SecretBox {
  seal(plaintext: string, context: string): string;
  /** Throws when the key, the context or the bytes are not the ones it was sealed with. */
  open(sealed: string, context: string): string;
}
