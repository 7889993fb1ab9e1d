/** Puts the sign-in of programs together: device authorization and OAuth 2.1. The other files of this folder hold it. */
import { withDeps } from '../deps.ts';
import type { AccountDeps } from '../deps.ts';
import { registerClient } from './clients.ts';
import { authorizationQuestion, decideAuthorization } from './consent.ts';
import { beginDevice, decideDevice, redeemDevice, waitingDevice } from './device.ts';
import { exchangeCode, grants, refresh, revokeGrant, revokeToken } from './tokens.ts';

export type OAuth = ReturnType<typeof createOAuth>;

export const createOAuth = (deps: AccountDeps) =>
  withDeps(deps, {
    beginDevice,
    waitingDevice,
    decideDevice,
    redeemDevice,
    registerClient,
    authorizationQuestion,
    decideAuthorization,
    exchangeCode,
    refresh,
    revokeToken,
    grants,
    revokeGrant,
  });
