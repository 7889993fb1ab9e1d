/**
 * Lodge's API for a signed-in browser, by the SDK: the session in a cookie that the page cannot read, and the session's CSRF
 * token in a header of every change.
 */
import { ApiError, ConnectionError, Lodge, TimeoutError } from '@lodge/sdk';
import type {
  AccountLink,
  AccountSpend,
  ApiKey as KeyRecord,
  AuthorizationRequest,
  DeviceRequest,
  Grant,
  Invitation,
  PersonalAccount,
  Person,
  ReadAuthorization as AuthorizationQuestion,
  SessionBody,
  SessionRecord,
  SpendLimit,
} from '@lodge/sdk';
import type { Role, Scope } from '@lodge/contract';
import { forget } from './forget.ts';

export type {
  AccountLink,
  AccountSpend,
  AuthorizationQuestion,
  AuthorizationRequest,
  DeviceRequest,
  Grant,
  Invitation,
  KeyRecord,
  PersonalAccount,
  Person,
  Role,
  SessionBody,
  SessionRecord,
  SpendLimit,
};
export { ApiError };

export type LinkKind = AccountLink['kind'];

export interface NewKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expires_at?: string;
}

export interface Credentials {
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

export function hasCode(error: unknown, code: string): error is ApiError {
  return error instanceof ApiError && error.code === code;
}

let current: SessionBody | undefined;

/** The id of the account that is signed in, for names in the browser's storage. */
export const accountNow = (): string | undefined => current?.account.id;

/** The pages repeat reads by themselves. */
export const lodge = new Lodge({
  baseUrl: '',
  timeoutMs: 30_000,
  maxRetries: 0,
  csrfToken: () => current?.csrf_token,
});

/** The reply, or an error in the pages' words: `unreachable` (status 0), or `not_signed_in`. */
export async function read<T>(reply: PromiseLike<T>): Promise<T> {
  try {
    return await reply;
  } catch (error) {
    if (error instanceof ConnectionError || error instanceof TimeoutError) {
      throw errorOf(0, 'unreachable', 'Lodge cannot be reached.');
    }
    // The request had no session cookie: it has expired, and the browser has forgotten it.
    if (hasCode(error, 'missing_api_key')) throw errorOf(error.status, 'not_signed_in', error.message);
    throw error;
  }
}

const errorOf = (status: number, code: string, message: string): ApiError => new ApiError(message, { status, code });

/** The entries of a list's first page. */
export const list = async <T>(page: PromiseLike<{ readonly data: readonly T[] }>): Promise<readonly T[]> =>
  (await read(page)).data;

/**
 * Sends a change. A refused CSRF token is one of an older session, because another tab has signed in since. For the same
 * person the change is sent once more with the new token. For another person this tab counts as signed out.
 */
export async function change<T>(send: () => Promise<T>): Promise<T> {
  const before = current;
  try {
    return await read(send());
  } catch (error) {
    if (before === undefined || !hasCode(error, 'csrf_refused')) throw error;
    const now = await session();
    if (now.account.id !== before.account.id) throw errorOf(401, 'not_signed_in', 'Another account signed in.');
    return read(send());
  }
}

async function session(): Promise<SessionBody> {
  current = await read(lodge.account.session());
  return current;
}

async function entering(send: () => Promise<SessionBody>): Promise<SessionBody> {
  current = await change(send);
  return current;
}

const { account, keys, people } = lodge;

export const api = {
  session,
  options: () => read(account.options()),
  link: (token: string) => change(() => account.readLink({ token })),

  setUp: (body: Credentials & { token: string }) => entering(() => account.setUp(body)),
  acceptInvitation: (body: Credentials & { token: string }) => entering(() => account.acceptInvitation(body)),
  register: (body: Credentials) => entering(() => account.register(body)),
  resetPassword: (body: { token: string; password: string; code?: string }) =>
    entering(() => account.resetPassword(body)),
  signIn: (body: { email: string; password: string; code?: string }) => entering(() => account.signIn(body)),
  async signOut(): Promise<void> {
    await change(() => account.signOut());
    current = undefined;
    forget();
  },

  sessions: () => list(account.sessions()),
  endSession: (id: string) => change(() => account.endSession(id)),
  endOtherSessions: () => change(() => account.endOtherSessions()),
  changePassword: (body: { current_password: string; new_password: string }) =>
    entering(() => account.changePassword(body)),
  beginTotp: (body: { password: string }) => change(() => account.beginTotp(body)),
  confirmTotp: (body: { code: string }) => change(() => account.confirmTotp(body)),
  removeTotp: (body: { password: string; code: string }) => change(() => account.removeTotp(body)),

  keys: () => list(keys.list()),
  createKey: (body: NewKey) => change(() => keys.create(body)),
  revokeKey: (id: string) => change(() => keys.revoke(id)),

  deviceRequest: (userCode: string) => change(() => account.deviceRequest({ user_code: userCode })),
  decideDevice: (body: { user_code: string; approve: boolean; scopes?: readonly Scope[] }) =>
    change(() => account.decideDeviceRequest(body)),

  authorization: (body: AuthorizationQuestion) => change(() => account.authorization(body)),
  decideAuthorization: (body: AuthorizationQuestion & { approve: boolean; scopes?: readonly Scope[] }) =>
    change(() => account.decideAuthorization(body)),
  grants: () => list(account.grants()),
  revokeGrant: (id: string) => change(() => account.revokeGrant(id)),

  updateAccount: (body: { record_llm_calls: boolean }) => change(() => account.update(body)),
  spend: () => read(account.spend()),
  setSpendLimit: (accountId: string, limit: SpendLimit | null) =>
    change(() => people.setSpendLimit(accountId, { spend_limit: limit })),

  people: () => list(people.list()),
  invitations: () => list(people.invitations()),
  invite: (body: { email?: string; role?: 'member' | 'viewer' }) => change(() => people.invite(body)),
  deleteInvitation: (id: string) => change(() => people.endInvitation(id)),
};
