export { SecretBoxError } from './aead.ts';
export { apiKeyPrefix, hashApiKey, isWellFormedApiKey, lastFour, makeApiKey } from './api-key.ts';
export { cryptography } from './cryptography.ts';
export { masterKeyId } from './data-key.ts';
export { loadMasterKey, MasterKeyError, readMasterKey } from './master-key.ts';
export type { MasterKeySource } from './master-key.ts';
export { rotateMasterKey } from './rotate.ts';
export type { Rotation } from './rotate.ts';
export { createSecretBox, openSecretBox } from './secret-box.ts';
