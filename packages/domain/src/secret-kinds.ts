/** Kinds of the secrets that owners give and never read again. A fingerprint is of one kind. */
export const secretKinds = ['llm_key', 'channel', 'connection', 'hook'] as const;
export type SecretKind = (typeof secretKinds)[number];
