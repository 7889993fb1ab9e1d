/** The `SecretBox` context of the secret with which a hook's senders sign. */
export const hookSecretContext = (hookId: string): string => `hook/${hookId}/secret`;
