import { AccountRefusal } from '@lodge/engine/ports';
import type {
  AccountRow,
  AccountStore,
  AccountTransaction,
  AttemptLimit,
  Caller,
  NewAuditEvent,
  OpenedSession,
  SecretBox,
  SignedIn,
} from '@lodge/engine/ports';
import { BusyError } from '../gate.ts';
import { hashPassword, verifyPassword } from '../passwords.ts';
import type { PendingTimes } from '../pending-times.ts';
import { hashToken, makeToken } from '../tokens.ts';

/** What the account area's use-cases stand on. */
export interface AccountDeps {
  readonly store: AccountStore;
  readonly secrets: SecretBox;
  readonly registrationOpen: boolean;
  readonly clock: () => Date;
  readonly seen: PendingTimes;
}

/** Beyond these, the one seen longest ago ends. */
const mostSessions = 50;
const longestUserAgent = 300;
const busyRetrySeconds = 2;

export const linkNotValid = (): AccountRefusal =>
  new AccountRefusal('link_not_valid', 'This link is not valid: it was used, has expired, or never was.');

export const emailTaken = (): AccountRefusal =>
  new AccountRefusal('email_taken', 'There is an account with this e-mail already.');

export const invalidCode = (): AccountRefusal =>
  new AccountRefusal('invalid_code', 'This code is not valid, or was used already.');

export const secondFactorRequired = (): AccountRefusal =>
  new AccountRefusal('second_factor_required', 'Give the code of your authenticator, or a recovery code.');

/** Refuses with 429 when one of the limits says to wait; else the attempt is counted on each. */
export async function countAttempt(deps: AccountDeps, limits: readonly AttemptLimit[]): Promise<void> {
  const blocked = await deps.store.takeAttempt(limits);
  if (blocked) {
    throw new AccountRefusal(
      'rate_limit_exceeded',
      'Too many attempts. Wait a while, then try again.',
      blocked.waitSeconds,
    );
  }
}

/** Password work queues; more than the queue holds is told to come again. */
async function orBusy<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof BusyError)) throw error;
    throw new AccountRefusal('rate_limit_exceeded', 'Too many people are signing in. Try again.', busyRetrySeconds);
  }
}

export const hashed = (password: string): Promise<string> => orBusy(hashPassword(password));

export const isPassword = (password: string, hash: string | null): Promise<boolean> =>
  orBusy(verifyPassword(password, hash));

/** Opens a session in the transaction that decided on it. Its token is new: none that a browser brought is taken over. */
export async function openSession(tx: AccountTransaction, account: AccountRow, caller: Caller): Promise<OpenedSession> {
  const token = makeToken();
  const userAgent = caller.userAgent?.slice(0, longestUserAgent) ?? null;
  const session = await tx.openSession(
    { accountId: account.id, hash: hashToken(token), address: caller.address, userAgent },
    mostSessions,
  );
  return { token, session, account };
}

/** An event of the account's own doing. */
export function eventOf(
  accountId: string,
  caller: Caller,
  event: Pick<NewAuditEvent, 'action'> & Partial<Pick<NewAuditEvent, 'target' | 'details'>>,
): NewAuditEvent {
  const { address, requestId } = caller;
  const actor = { kind: 'account', id: accountId } as const;
  return { target: null, details: {}, ...event, accountId, actor, address, requestId };
}

export function requireOwner(me: SignedIn): void {
  if (me.account.role !== 'owner') throw new AccountRefusal('owner_only', 'Only an owner may do this.');
}

const idShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Ids that cannot be are ones that do not exist. */
export const isId = (id: string): boolean => idShape.test(id);
