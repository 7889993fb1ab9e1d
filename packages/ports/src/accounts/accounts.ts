import type { InvitedRole, Scope, SpendLimit } from '@lodge/domain';
import type { By } from '../events/by.ts';
import type { AccountRow, ApiKeyRecord, LinkRow, MemberRow, SessionRow } from './account-store.ts';

/** Where a request comes from, for sessions and the audit log. */
export interface Caller {
  readonly address: string;
  readonly userAgent: string | null;
  readonly requestId: string;
}

/** Who is signed in, and by which session. */
export interface SignedIn {
  readonly session: SessionRow;
  readonly account: AccountRow;
}

/** A session that has just begun: its token goes into the cookie and is kept nowhere. */
export interface OpenedSession extends SignedIn {
  readonly token: string;
}

export interface NewPerson {
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

/** What an account says of itself, by a session or a key of its own. */
export interface OwnAccounts {
  account(id: string): Promise<AccountRow>;
  update(id: string, change: { readonly recordsLlmCalls: boolean }, by: By): Promise<AccountRow>;
}

/** The account area: everything a signed-in person does, and how one comes to be signed in. Every method may throw `Refusal`. */
export interface Accounts extends OwnAccounts {
  readonly registrationOpen: boolean;
  /** The session of a token, and notes that it was seen; null when it is none or has ended. */
  signedIn(token: string): Promise<SignedIn | null>;
  /** Whether a token's session goes on; it is not seen by being asked after. */
  holds(token: string): Promise<boolean>;
  /** What every changing request of the session must carry beside its cookie. */
  csrfToken(token: string): string;

  link(token: string): Promise<LinkRow>;
  setUp(input: NewPerson & { readonly token: string }, caller: Caller): Promise<OpenedSession>;
  acceptInvitation(input: NewPerson & { readonly token: string }, caller: Caller): Promise<OpenedSession>;
  register(input: NewPerson, caller: Caller): Promise<OpenedSession>;
  signIn(
    input: { readonly email: string; readonly password: string; readonly code?: string },
    caller: Caller,
  ): Promise<OpenedSession>;
  signOut(me: SignedIn, caller: Caller): Promise<void>;
  resetPassword(
    input: { readonly token: string; readonly password: string; readonly code?: string },
    caller: Caller,
  ): Promise<OpenedSession>;

  sessions(me: SignedIn): Promise<readonly SessionRow[]>;
  endSession(me: SignedIn, id: string, caller: Caller): Promise<void>;
  endOtherSessions(me: SignedIn, caller: Caller): Promise<void>;
  /** Ends every session of the account and opens a new one. */
  changePassword(
    me: SignedIn,
    input: { readonly currentPassword: string; readonly newPassword: string },
    caller: Caller,
  ): Promise<OpenedSession>;

  /** A second factor that is not in force before `confirmTotp`. */
  beginTotp(
    me: SignedIn,
    input: { readonly password: string },
    caller: Caller,
  ): Promise<{ readonly secret: string; readonly url: string }>;
  /** Puts it in force; the recovery codes are shown this once. */
  confirmTotp(me: SignedIn, input: { readonly code: string }, caller: Caller): Promise<readonly string[]>;
  removeTotp(me: SignedIn, input: { readonly password: string; readonly code: string }, caller: Caller): Promise<void>;

  keys(me: SignedIn): Promise<readonly ApiKeyRecord[]>;
  /** `key` is the whole key, shown this once. */
  createKey(
    me: SignedIn,
    input: { readonly name: string; readonly scopes: readonly Scope[]; readonly expiresAt: Date | null },
    caller: Caller,
  ): Promise<{ readonly record: ApiKeyRecord; readonly key: string }>;
  revokeKey(me: SignedIn, id: string, caller: Caller): Promise<ApiKeyRecord>;

  invitations(me: SignedIn): Promise<readonly LinkRow[]>;
  invite(
    me: SignedIn,
    input: { readonly email: string | null; readonly role?: InvitedRole },
    caller: Caller,
  ): Promise<{ readonly link: LinkRow; readonly token: string }>;
  endInvitation(me: SignedIn, id: string, caller: Caller): Promise<void>;
  members(me: SignedIn): Promise<readonly MemberRow[]>;
  /** Of any account, by an owner. Null: what the deployment says. */
  setSpendLimit(me: SignedIn, accountId: string, limit: SpendLimit | null, caller: Caller): Promise<void>;
}

/** Path of a link's page. The token is in the fragment, which browsers send to no server. */
export function linkPath(kind: LinkRow['kind'], token: string): string {
  const page = { owner: 'setup', invite: 'join', reset: 'reset' }[kind];
  return `/account/${page}#token=${token}`;
}
