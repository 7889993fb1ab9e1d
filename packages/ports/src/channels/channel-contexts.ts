/** Contexts that are bound to sealed values of channels. A value does not open in another context. */
export const channelCredentialContext = (agentId: string, channel: string, name: string): string =>
  `channel/${agentId}/${channel}/credential/${name}`;
export const channelVaultContext = (agentId: string, channel: string, type: string, id: string): string =>
  `channel/${agentId}/${channel}/vault/${type}/${id}`;
export const channelPairingContext = (agentId: string, channel: string): string =>
  `channel/${agentId}/${channel}/pairing`;

/**
 * The context that is bound to a sealed PKCE verifier. It does not open in another context. The id alone tells a mailbox
 * from a connection.
 */
export const oauthVerifierContext = (agentId: string, id: string): string =>
  `channel/${agentId}/gmail/oauth-session/${id}`;
