import type { InvitedRole, Role, SpendLimit } from '@lodge/domain';
import type { ApiKeyRow, NewApiKey } from './api-keys.ts';
import type { NewEvent } from '../events/events.ts';
import type { OAuthStore, OAuthTransaction } from './oauth-store.ts';

export type LinkKind = 'owner' | 'invite' | 'reset';

export interface AccountRow {
  readonly id: string;
  readonly name: string;
  /** Null until somebody has taken the account over by its owner link. */
  readonly email: string | null;
  readonly role: Role;
  readonly totpEnabled: boolean;
  /** Limit on what all agents of the account may spend together. With null the deployment's default applies. */
  readonly spendLimit: SpendLimit | null;
  /** Whether the contents of its agents' model calls are kept for a while. */
  readonly recordsLlmCalls: boolean;
  readonly createdAt: Date;
}

/** An account with the secrets that a sign-in is checked against. */
export interface Credentials {
  readonly account: AccountRow;
  /** See `hashPassword` of @lodge/access. */
  readonly passwordHash: string | null;
  /** The sealed secret of the second factor in force, and the one that awaits its first code; see `totpContext`. */
  readonly totpSealed: string | null;
  readonly totpPendingSealed: string | null;
}

export interface SessionRow {
  readonly id: string;
  readonly accountId: string;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  /** The earlier of two ends: that of every session, and that of a session without use. */
  readonly expiresAt: Date;
  readonly address: string;
  readonly userAgent: string | null;
}

export interface NewSession {
  readonly accountId: string;
  /** SHA-256 of the token, 32 bytes. */
  readonly hash: Uint8Array;
  readonly address: string;
  readonly userAgent: string | null;
}

export interface LinkRow {
  readonly id: string;
  readonly kind: LinkKind;
  /** The account it opens (`owner`, `reset`), or the one that invites. */
  readonly accountId: string;
  /** The e-mail of the account that the link opens, or the only e-mail that may accept the invitation. */
  readonly email: string | null;
  /** The role of the account that an invitation creates. */
  readonly role: InvitedRole;
  /** Whether the reset also removes the second factor. */
  readonly removesTotp: boolean;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly usedAt: Date | null;
}

export interface NewLink {
  readonly kind: LinkKind;
  readonly accountId: string;
  readonly email: string | null;
  /** The role that an invitation gives; a member by default. */
  readonly role?: InvitedRole;
  readonly removesTotp?: boolean;
  /** SHA-256 of the token, 32 bytes. */
  readonly hash: Uint8Array;
  readonly lifetimeSeconds: number;
}

export interface ApiKeyRecord extends ApiKeyRow {
  readonly name: string;
  readonly last4: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  /** The key that made this one, and with which this one ends; null when a person did. */
  readonly madeBy: string | null;
}

export interface RevokedKey {
  readonly revoked: ApiKeyRecord | null;
  readonly wasLive: boolean;
  /** Ids of the keys that it had made and that ended with it. */
  readonly made: readonly string[];
}

export interface MemberRow extends AccountRow {
  readonly agents: number;
}

/**
 * The subject that attempts are counted by. The first `free` attempts of a day cost nothing. Each further one doubles the
 * wait, up to `maxWaitSeconds`.
 */
export interface AttemptLimit {
  readonly subject: string;
  readonly free: number;
  readonly maxWaitSeconds: number;
}

/** Thrown when another account has the e-mail. */
export class EmailTakenError extends Error {
  constructor() {
    super('another account has this e-mail');
    this.name = 'EmailTakenError';
  }
}

/** Accounts in the store, with their sessions, links, keys and counted attempts. All times are the database's. */
export interface AccountStore {
  readonly oauth: OAuthStore;
  /** `knownAddress`: the account has signed in from `address` before. */
  byEmail(
    email: string,
    address: string,
  ): Promise<{ readonly credentials: Credentials; readonly knownAddress: boolean } | null>;
  byId(accountId: string): Promise<Credentials | null>;
  /** The accounts that may invite, oldest first. */
  owners(): Promise<readonly AccountRow[]>;
  members(): Promise<readonly MemberRow[]>;
  session(hash: Uint8Array): Promise<{ readonly session: SessionRow; readonly account: AccountRow } | null>;
  /** Sessions in force, last seen first. */
  sessions(accountId: string): Promise<readonly SessionRow[]>;
  /** Writes when each session was last seen, by id, in one statement. */
  recordSeen(seen: ReadonlyMap<string, Date>): Promise<void>;
  /** Returns a link that can still be used. */
  link(hash: Uint8Array): Promise<LinkRow | null>;
  /** Invitations that were accepted or can still be, newest first. */
  invitations(): Promise<readonly LinkRow[]>;
  /** All keys of an account, newest first, revoked ones too. */
  keys(accountId: string): Promise<readonly ApiKeyRecord[]>;
  /**
   * Counts one attempt on every limit before its outcome is known, so simultaneous attempts are all counted. When a limit
   * requires a wait, it counts none and returns the seconds to wait.
   */
  takeAttempt(limits: readonly AttemptLimit[]): Promise<{ readonly waitSeconds: number } | null>;
  /** Takes one attempt off again, because it was none that counts. */
  giveBackAttempt(subjects: readonly string[]): Promise<void>;
  /**
   * Writes one owner link for a deployment that nobody has signed in to and that never had such a link. Returns true when it
   * was written. Any number of processes may call it at once.
   */
  createFirstOwnerLink(link: Pick<NewLink, 'hash' | 'lifetimeSeconds'>): Promise<boolean>;
  /**
   * Commits everything that `work` does, or nothing. `work` may run twice when the connection was lost before the commit.
   */
  transaction<T>(work: (tx: AccountTransaction) => Promise<T>): Promise<T>;
  /** Writes an event that goes with no change, such as a refusal. */
  note(event: NewEvent): Promise<void>;
  /** Removes sessions, links and counts that no longer matter, in bounded steps. */
  prune(): Promise<void>;
}

/** Changes within one transaction. */
export interface AccountTransaction {
  readonly oauth: OAuthTransaction;
  /** Locks the account's row until the transaction ends, so the values read stay true. */
  lock(accountId: string): Promise<Credentials | null>;
  /** Throws `EmailTakenError`. */
  createAccount(account: {
    readonly name: string;
    readonly email: string;
    readonly passwordHash: string;
    readonly role: Role;
  }): Promise<AccountRow>;
  /** Throws `EmailTakenError`. */
  setUp(
    accountId: string,
    account: { readonly name: string; readonly email: string; readonly passwordHash: string },
  ): Promise<AccountRow>;
  /** Also ends the account's visits to agents. */
  setPassword(accountId: string, passwordHash: string): Promise<void>;
  setTotp(
    accountId: string,
    totp: { readonly sealed: string | null; readonly pendingSealed: string | null },
  ): Promise<void>;
  setRecordsLlmCalls(accountId: string, records: boolean): Promise<AccountRow>;
  /** False when there is no such account. */
  setSpendLimit(accountId: string, limit: SpendLimit | null): Promise<boolean>;
  /** False when the code of this time step, or of a later one, was used already. */
  useTotpStep(accountId: string, step: number): Promise<boolean>;
  /** Marks the codes of this step and earlier ones as used, and forgets the previous state. */
  startTotpSteps(accountId: string, step: number): Promise<void>;
  /** Replaces all recovery codes. */
  setRecoveryCodes(accountId: string, hashes: readonly Uint8Array[]): Promise<void>;
  /** False when the account has no such code, or it was used. */
  useRecoveryCode(accountId: string, hash: Uint8Array): Promise<boolean>;

  /** Opens a session and ends those beyond `most` that were seen longest ago. */
  openSession(session: NewSession, most: number): Promise<SessionRow>;
  /** False when the account has no such session. */
  endSession(accountId: string, id: string): Promise<boolean>;
  endSessions(accountId: string, except: string | null): Promise<number>;
  rememberAddress(accountId: string, address: string): Promise<void>;
  clearAttempts(subjects: readonly string[]): Promise<void>;

  createLink(link: NewLink): Promise<LinkRow>;
  /** Uses up a link. One of two simultaneous callers gets it. The other gets null, as for a link that cannot be used. */
  takeLink(kind: LinkKind, hash: Uint8Array): Promise<LinkRow | null>;
  /** Ends the account's unused links of a kind. */
  endLinks(accountId: string, kind: LinkKind): Promise<void>;
  /** False when there is no such invitation that can still be accepted. */
  endInvitation(id: string): Promise<boolean>;

  liveKeys(accountId: string): Promise<number>;
  /** Null when the account has no such key. */
  key(accountId: string, id: string): Promise<ApiKeyRecord | null>;
  createKey(accountId: string, key: NewApiKey): Promise<ApiKeyRecord>;
  /**
   * Revokes a key and those that it made. A key that was revoked before stays as it is. `revoked` is null when the account
   * has no such key.
   */
  revokeKey(accountId: string, id: string): Promise<RevokedKey>;

  /**
   * Writes the event of the change. A transaction with a change commits with exactly one event. Call this last, because it
   * waits for other writers of the account's events. `idempotencyKey` names the request whose effect it is.
   */
  record(event: NewEvent, idempotencyKey?: string): Promise<void>;

  /** Tells another account of a recorded change that is about it, too. Call it after `record`, and once. */
  tell(event: NewEvent): Promise<void>;
}

/** The longest life of a session, and the longest time without use. */
export const sessionLifetime = { absoluteSeconds: 30 * 86_400, idleSeconds: 7 * 86_400 } as const;

/** The `SecretBox` context of an account's second factor. */
export function totpContext(accountId: string): string {
  return `totp:${accountId}`;
}

/** Seconds for which each kind of link can be used. */
export const linkLifetimes = { owner: 86_400, invite: 7 * 86_400, reset: 3_600 } as const;
