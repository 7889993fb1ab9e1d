import type { InvitedRole, Scope, SpendLimit } from '@lodge/domain';
import type { By } from '../events/by.ts';
import type { ActorNote } from '../events/change-note.ts';
import type { OAuth } from './oauth.ts';
import type { Principal } from './api-keys.ts';
import type { AccountRow, ApiKeyRecord, LinkRow, MemberRow, SessionRow } from './account-store.ts';
import type { Caller, SignedIn } from './signed-in.ts';

/** A session that has just begun. Its token goes into the cookie and is stored nowhere. */
export interface OpenedSession extends SignedIn {
  readonly token: string;
}

export interface NewPerson {
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

/** An account's own record, which its session or its API key may read and change. */
export interface OwnAccounts {
  account(id: string): Promise<AccountRow>;
  update(id: string, change: { readonly recordsLlmCalls: boolean }, by: By): Promise<AccountRow>;
}

/** The account area: everything that a signed-in person does, and the ways to sign in. Every method may throw `Refusal`. */
export interface Accounts extends OwnAccounts {
  readonly registrationOpen: boolean;
  readonly oauth: OAuth;
  /** Returns the session of a token and records that it was seen. Returns null when there is none or it has ended. */
  signedIn(token: string): Promise<SignedIn | null>;
  /** Whether the session of a token is still in force. Asking does not count as use. */
  holds(token: string): Promise<boolean>;
  /** Returns the token that every changing request of the session must carry beside its cookie. */
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

  /** Begins a second factor. It is in force only after `confirmTotp`. */
  beginTotp(
    me: SignedIn,
    input: { readonly password: string },
    caller: Caller,
  ): Promise<{ readonly secret: string; readonly url: string }>;
  /** Puts the second factor in force and returns the recovery codes, which are shown only once. */
  confirmTotp(me: SignedIn, input: { readonly code: string }, caller: Caller): Promise<readonly string[]>;
  removeTotp(me: SignedIn, input: { readonly password: string; readonly code: string }, caller: Caller): Promise<void>;

  keys(accountId: string): Promise<readonly ApiKeyRecord[]>;
  /** Returns the key of the principal itself. Refuses a session. */
  currentKey(of: Principal): Promise<ApiKeyRecord>;
  /**
   * Creates a key with at most the scopes of its maker and, where that is a key, no longer life. `key` is the whole key, which
   * is shown only once.
   */
  createKey(
    maker: Principal,
    input: {
      readonly name: string;
      readonly scopes: readonly Scope[];
      /** Absent: never, or with the key that makes it. */
      readonly expiresAt?: Date | null | undefined;
    },
    note: ActorNote,
  ): Promise<{ readonly record: ApiKeyRecord; readonly key: string }>;
  /** Revokes a key and those that it made. Revoking it again changes nothing. */
  revokeKey(accountId: string, id: string, by: By): Promise<ApiKeyRecord>;

  invitations(me: SignedIn): Promise<readonly LinkRow[]>;
  invite(
    me: SignedIn,
    input: { readonly email: string | null; readonly role?: InvitedRole },
    caller: Caller,
  ): Promise<{ readonly link: LinkRow; readonly token: string }>;
  endInvitation(me: SignedIn, id: string, caller: Caller): Promise<void>;
  members(me: SignedIn): Promise<readonly MemberRow[]>;
  /** Sets the limit of any account; only an owner may. With null the deployment's default applies. */
  setSpendLimit(me: SignedIn, accountId: string, limit: SpendLimit | null, caller: Caller): Promise<void>;
}

/** Path of a link's page. The token is in the fragment, which browsers send to no server. */
export function linkPath(kind: LinkRow['kind'], token: string): string {
  const page = { owner: 'setup', invite: 'join', reset: 'reset' }[kind];
  return `/account/${page}#token=${token}`;
}
