/** Puts the sign-in of programs together; the other files of this folder hold it. */
import type { OAuth } from '@lodge/ports';
import type { AccountDeps } from '../deps.ts';
import { registerClient } from './clients.ts';
import { authorizationQuestion, decideAuthorization } from './consent.ts';
import { beginDevice, decideDevice, redeemDevice, waitingDevice } from './device.ts';
import { exchangeCode, refresh, revokeGrant, revokeToken } from './tokens.ts';

export const createOAuth = (deps: AccountDeps): OAuth => ({
  beginDevice: (input, address) => beginDevice(deps, input, address),
  waitingDevice: (me, code, caller) => waitingDevice(deps, me, code, caller),
  decideDevice: (me, code, scopes, caller) => decideDevice(deps, me, code, scopes, caller),
  redeemDevice: (code, caller) => redeemDevice(deps, code, caller),
  registerClient: (input, address) => registerClient(deps, input, address),
  authorizationQuestion: (me, input) => authorizationQuestion(deps, me, input),
  decideAuthorization: (me, input, scopes, caller) => decideAuthorization(deps, me, input, scopes, caller),
  exchangeCode: (input, caller) => exchangeCode(deps, input, caller),
  refresh: (input, caller) => refresh(deps, input, caller),
  revokeToken: (input, caller) => revokeToken(deps, input, caller),
  grants: (accountId) => deps.store.oauth.grants(accountId),
  revokeGrant: (accountId, id, by) => revokeGrant(deps, accountId, id, by),
});
