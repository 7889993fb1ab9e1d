import type { Pages } from '../http/page.ts';
import { pathOf } from '../http/url.ts';
import type { CallOptions } from '../options.ts';
import type * as Types from '../types.ts';
import { Resource } from './resource.ts';

const path = (...more: readonly string[]): string => pathOf('account', ...more);
type Nothing = Record<string, never>;

/**
 * The account, and signing in to it. All but `get`, `update` and `spend` are for the pages of the service: they take a
 * session, no key.
 */
export class Account extends Resource {
  get(options?: CallOptions): Promise<Types.Account> {
    return this.getJson('/account', options);
  }

  update(body: Types.UpdateAccount, options?: CallOptions): Promise<Types.Account> {
    return this.sendJson('PATCH', '/account', options, { body });
  }

  /** Tells how much the account spent on model calls, and its limit. */
  spend(options?: CallOptions): Promise<Types.AccountSpend> {
    return this.getJson(path('spend'), options);
  }

  options(options?: CallOptions): Promise<Types.AccountOptions> {
    return this.getJson(path('options'), options);
  }

  session(options?: CallOptions): Promise<Types.SessionBody> {
    return this.getJson(path('session'), options);
  }

  signIn(body: Types.SignIn, options?: CallOptions): Promise<Types.SessionBody> {
    return this.#post('sign-in', body, options);
  }

  signOut(body: Nothing = {}, options?: CallOptions): Promise<Nothing> {
    return this.#post('sign-out', body, options);
  }

  sessions(options?: CallOptions): Pages<Types.SessionList> {
    return this.pagesOf(path('sessions'), options);
  }

  endOtherSessions(options?: CallOptions): Promise<Nothing> {
    return this.sendJson('DELETE', path('sessions'), options);
  }

  endSession(id: string, options?: CallOptions): Promise<Nothing> {
    return this.sendJson('DELETE', path('sessions', id), options);
  }

  /** Tells the purpose of a link to the account area. */
  readLink(body: Types.ReadAccountLink, options?: CallOptions): Promise<Types.AccountLink> {
    return this.#post('links', body, options);
  }

  setUp(body: Types.JoinByLink, options?: CallOptions): Promise<Types.SessionBody> {
    return this.#post('setup', body, options);
  }

  acceptInvitation(body: Types.JoinByLink, options?: CallOptions): Promise<Types.SessionBody> {
    return this.sendJson('POST', path('invitations', 'accept'), options, { body });
  }

  register(body: Types.Register, options?: CallOptions): Promise<Types.SessionBody> {
    return this.#post('register', body, options);
  }

  changePassword(body: Types.ChangePassword, options?: CallOptions): Promise<Types.SessionBody> {
    return this.#post('password', body, options);
  }

  resetPassword(body: Types.ResetPassword, options?: CallOptions): Promise<Types.SessionBody> {
    return this.#post('password-reset', body, options);
  }

  beginTotp(body: Types.BeginTotp, options?: CallOptions): Promise<Types.TotpBegun> {
    return this.#post('totp', body, options);
  }

  confirmTotp(body: Types.ConfirmTotp, options?: CallOptions): Promise<Types.RecoveryCodes> {
    return this.sendJson('POST', path('totp', 'confirm'), options, { body });
  }

  removeTotp(body: Types.RemoveTotp, options?: CallOptions): Promise<Nothing> {
    return this.sendJson('DELETE', path('totp'), options, { body });
  }

  /** Tells which machine waits with a code. */
  deviceRequest(body: Types.ReadDeviceRequest, options?: CallOptions): Promise<Types.DeviceRequest> {
    return this.#post('device', body, options);
  }

  /** Gives a machine an API key, or refuses it. */
  decideDeviceRequest(body: Types.DecideDeviceRequest, options?: CallOptions): Promise<Nothing> {
    return this.sendJson('POST', path('device', 'decision'), options, { body });
  }

  /** Tells which program asks for access. */
  authorization(body: Types.ReadAuthorization, options?: CallOptions): Promise<Types.AuthorizationRequest> {
    return this.#post('authorization', body, options);
  }

  /** Gives a program access, or refuses it. The reply says where the browser goes. */
  decideAuthorization(body: Types.DecideAuthorization, options?: CallOptions): Promise<Types.AuthorizationAnswer> {
    return this.sendJson('POST', path('authorization', 'decision'), options, { body });
  }

  /** Programs that have access. */
  grants(options?: CallOptions): Pages<Types.GrantList> {
    return this.pagesOf(path('grants'), options);
  }

  revokeGrant(id: string, options?: CallOptions): Promise<Types.Grant> {
    return this.sendJson('DELETE', path('grants', id), options);
  }

  /** Without a key: these operations take none. */
  #post<T>(name: string, body: unknown, options?: CallOptions): Promise<T> {
    return this.sendJson('POST', path(name), options, { body });
  }
}

/** API keys of the account, for a signed-in person or a key with the scope `keys:write`. */
export class Keys extends Resource {
  list(options?: CallOptions): Pages<Types.ApiKeyList> {
    return this.pagesOf(path('keys'), options);
  }

  /** The reply has the key, which is shown this once. */
  create(body: Types.CreateApiKey, options?: CallOptions): Promise<Types.CreatedApiKey> {
    return this.sendJson('POST', path('keys'), options, { body });
  }

  revoke(id: string, options?: CallOptions): Promise<Types.ApiKey> {
    return this.sendJson('DELETE', path('keys', id), options);
  }

  /** The key that asks. */
  current(options?: CallOptions): Promise<Types.ApiKey> {
    return this.getJson(path('keys', 'current'), options);
  }

  /** Revokes the key that asks. */
  revokeCurrent(options?: CallOptions): Promise<Types.ApiKey> {
    return this.sendJson('DELETE', path('keys', 'current'), options);
  }
}

/** Other people of the deployment, for its owner. */
export class People extends Resource {
  list(options?: CallOptions): Pages<Types.PersonList> {
    return this.pagesOf(path('people'), options);
  }

  invitations(options?: CallOptions): Pages<Types.InvitationList> {
    return this.pagesOf(path('invitations'), options);
  }

  invite(body: Types.CreateInvitation = {}, options?: CallOptions): Promise<Types.CreatedInvitation> {
    return this.sendJson('POST', path('invitations'), options, { body });
  }

  endInvitation(id: string, options?: CallOptions): Promise<Nothing> {
    return this.sendJson('DELETE', path('invitations', id), options);
  }

  setSpendLimit(id: string, body: Types.SetSpendLimit, options?: CallOptions): Promise<Nothing> {
    return this.sendJson('PUT', path('people', id, 'spend-limit'), options, { body });
  }
}
