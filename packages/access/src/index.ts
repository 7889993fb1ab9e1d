export { apiKeyPrefix, hashApiKey, isWellFormedApiKey, lastFour, makeApiKey } from './api-key.ts';
export { ensureFirstKey } from './first-key.ts';
export type { FirstKey } from './first-key.ts';
export { loadMasterKey, MasterKeyError } from './master-key.ts';
export { createSecretBox, SecretBoxError } from './secret-box.ts';
export { createApiKeyVerifier } from './verifier.ts';
export type { ApiKeyVerifierDeps, ClosableApiKeyVerifier } from './verifier.ts';
