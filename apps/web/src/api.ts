/**
 * Lodge's API, `/v1`, for a signed-in browser: JSON over fetch, the session in a cookie that the page cannot read, and the
 * session's CSRF token in a header of every change.
 */
import type {
  AccountLink,
  AccountOptions,
  AccountSpend,
  DeviceRequest,
  Invitation,
  KeyRecord,
  PersonalAccount,
  Person,
  Role,
  Scope,
  SessionBody,
  SessionRecord,
  SpendLimit,
} from '@lodge/contract';

export type {
  AccountLink,
  AccountSpend,
  DeviceRequest,
  Invitation,
  KeyRecord,
  PersonalAccount,
  Person,
  Role,
  SessionBody,
  SessionRecord,
  SpendLimit,
};

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

interface List<T> {
  readonly data: readonly T[];
}

/** Thrown for a reply that is not 2xx, or (`status` 0, code `unreachable`) when no reply came. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, code: string, message: string, retryAfterSeconds?: number) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export function hasCode(error: unknown, code: string): error is ApiError {
  return error instanceof ApiError && error.code === code;
}

const timeoutMs = 30_000;
let current: SessionBody | undefined;

async function send<T>(method: string, path: string, body: unknown): Promise<T> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (method !== 'GET' && current !== undefined) headers['x-csrf-token'] = current.csrf_token;
  let reply: Response;
  let value: unknown;
  try {
    reply = await fetch(`/v1${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await reply.text();
    value = text === '' ? {} : JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new ApiError(502, 'not_json', 'The server sent a reply that is not JSON.');
    throw new ApiError(0, 'unreachable', 'Lodge cannot be reached.');
  }
  if (!reply.ok) throw errorOf(reply, value);
  return value as T;
}

function errorOf(reply: Response, value: unknown): ApiError {
  const { error } = (value ?? {}) as { error?: { code?: string; message?: string } };
  const retryAfter = Number(reply.headers.get('retry-after') ?? Number.NaN);
  // The request had no session cookie: it has expired, and the browser has forgotten it.
  const code = error?.code === 'missing_api_key' ? 'not_signed_in' : error?.code;
  return new ApiError(
    reply.status,
    code ?? `http_${reply.status}`,
    error?.message ?? `The server replied with status ${reply.status}.`,
    Number.isFinite(retryAfter) ? retryAfter : undefined,
  );
}

/**
 * Sends a change. A refused CSRF token is one of an older session, because another tab has signed in since. For the same
 * person the change is sent once more with the new token. For another person this tab counts as signed out.
 */
async function change<T>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<T> {
  const before = current;
  try {
    return await send<T>(method, path, body);
  } catch (error) {
    if (before === undefined || !hasCode(error, 'csrf_refused')) throw error;
    const now = await session();
    if (now.account.id !== before.account.id) throw new ApiError(401, 'not_signed_in', 'Another account signed in.');
    return send<T>(method, path, body);
  }
}

const read = <T>(path: string): Promise<T> => send<T>('GET', path, undefined);
const list = async <T>(path: string): Promise<readonly T[]> => (await read<List<T>>(path)).data;

async function session(): Promise<SessionBody> {
  current = await read<SessionBody>('/account/session');
  return current;
}

async function entering(path: string, body: unknown): Promise<SessionBody> {
  current = await change<SessionBody>('POST', path, body);
  return current;
}

const member = (collection: string, id: string): string => `/account/${collection}/${encodeURIComponent(id)}`;

export const api = {
  session,
  options: () => read<AccountOptions>('/account/options'),
  link: (token: string) => change<AccountLink>('POST', '/account/links', { token }),

  setUp: (body: Credentials & { token: string }) => entering('/account/setup', body),
  acceptInvitation: (body: Credentials & { token: string }) => entering('/account/invitations/accept', body),
  register: (body: Credentials) => entering('/account/register', body),
  resetPassword: (body: { token: string; password: string; code?: string }) =>
    entering('/account/password-reset', body),
  signIn: (body: { email: string; password: string; code?: string }) => entering('/account/sign-in', body),
  async signOut(): Promise<void> {
    await change('POST', '/account/sign-out');
    current = undefined;
  },

  sessions: () => list<SessionRecord>('/account/sessions'),
  endSession: (id: string) => change('DELETE', member('sessions', id)),
  endOtherSessions: () => change('DELETE', '/account/sessions'),
  changePassword: (body: { current_password: string; new_password: string }) => entering('/account/password', body),
  beginTotp: (body: { password: string }) =>
    change<{ secret: string; otpauth_url: string }>('POST', '/account/totp', body),
  confirmTotp: (body: { code: string }) =>
    change<{ recovery_codes: readonly string[] }>('POST', '/account/totp/confirm', body),
  removeTotp: (body: { password: string; code: string }) => change('DELETE', '/account/totp', body),

  keys: () => list<KeyRecord>('/account/keys'),
  createKey: (body: NewKey) => change<KeyRecord & { key: string }>('POST', '/account/keys', body),
  revokeKey: (id: string) => change<KeyRecord>('DELETE', member('keys', id)),

  deviceRequest: (userCode: string) => change<DeviceRequest>('POST', '/account/device', { user_code: userCode }),
  decideDevice: (body: { user_code: string; approve: boolean; scopes?: readonly Scope[] }) =>
    change('POST', '/account/device/decision', body),

  updateAccount: (body: { record_llm_calls: boolean }) => change<PersonalAccount>('PATCH', '/account', body),
  spend: () => read<AccountSpend>('/account/spend'),
  setSpendLimit: (accountId: string, limit: SpendLimit | null) =>
    change('PUT', `${member('people', accountId)}/spend-limit`, { spend_limit: limit }),

  people: () => list<Person>('/account/people'),
  invitations: () => list<Invitation>('/account/invitations'),
  invite: (body: { email?: string }) => change<Invitation & { url: string }>('POST', '/account/invitations', body),
  deleteInvitation: (id: string) => change('DELETE', member('invitations', id)),
};
