import type { Cryptography } from '@lodge/ports';
import { hashApiKey, isWellFormedApiKey, lastFour, makeApiKey } from './api-key.ts';
import { hashPassword, isOutdated, verifyPassword } from './passwords.ts';
import { makeRecoveryCodes, makeTotpSecret, readCode, totpStep, totpUrl } from './second-factor.ts';
import { csrfTokenOf, hashToken, isToken, makeToken, makeUserCode } from './tokens.ts';

/** `Cryptography` with Node's own primitives and, for TOTP, a library. */
export const cryptography: Cryptography = {
  tokens: { make: makeToken, isWellFormed: isToken, hash: hashToken, csrfOf: csrfTokenOf, makeUserCode },
  apiKeys: { make: makeApiKey, isWellFormed: isWellFormedApiKey, hash: hashApiKey, lastFour },
  passwords: { hash: hashPassword, verify: verifyPassword, isOutdated },
  secondFactors: { makeSecret: makeTotpSecret, url: totpUrl, step: totpStep, readCode, makeRecoveryCodes },
};
