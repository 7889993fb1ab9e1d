/** Kinds of the secrets that owners give and never read again. A fingerprint is of one kind. */
export const secretKinds = ['llm_key', 'channel', 'connection', 'hook'] as const;
export type SecretKind = (typeof secretKinds)[number];

/** The end of a secret, by which a person recognises it. A short one (a local server's password, say) shows nothing. */
export const lastFour = (secret: string): string => (secret.length >= 12 ? secret.slice(-4) : '');
