import { Refusal } from '@lodge/domain';
import type { Happening } from '@lodge/domain';
import { BusyError } from '@lodge/ports';
import type {
  AccountRow,
  AccountStore,
  AccountTransaction,
  AttemptLimit,
  Caller,
  Cryptography,
  NewEvent,
  OpenedSession,
  SecretBox,
  SignedIn,
} from '@lodge/ports';
import type { KeptDocuments } from './oauth/kept-documents.ts';
import type { PendingTimes } from './pending-times.ts';

/** Dependencies of the account area's use-cases. */
export interface AccountDeps {
  readonly store: AccountStore;
  readonly secrets: SecretBox;
  readonly crypto: Cryptography;
  readonly registrationOpen: boolean;
  readonly clock: () => Date;
  readonly seen: PendingTimes;
  /** Where browsers reach this service. Known only once it listens. */
  readonly origin: () => string;
  /** Null: clients register. */
  readonly clientDocuments: KeptDocuments | null;
}

/** Sessions of one account; beyond these, the one that was seen longest ago ends. */
const maxSessions = 50;
const longestUserAgent = 300;
const busyRetrySeconds = 2;

export const linkNotValid = (): Refusal =>
  new Refusal('link_not_valid', 'This link is not valid: it was used, has expired, or never was.');

export const emailTaken = (): Refusal => new Refusal('email_taken', 'There is an account with this e-mail already.');

export const invalidCode = (): Refusal => new Refusal('invalid_code', 'This code is not valid, or was used already.');

export const secondFactorRequired = (): Refusal =>
  new Refusal('second_factor_required', 'Give the code of your authenticator, or a recovery code.');

/** Counts the attempt on each limit. Refuses with 429 when one of the limits says to wait. */
export async function countAttempt(deps: AccountDeps, limits: readonly AttemptLimit[]): Promise<void> {
  const blocked = await deps.store.takeAttempt(limits);
  if (blocked) {
    throw new Refusal('rate_limit_exceeded', 'Too many attempts. Wait a while, then try again.', {
      retryAfterSeconds: blocked.waitSeconds,
    });
  }
}

/** Password work queues; a caller that finds the queue full is asked to come again. */
async function orBusy<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof BusyError)) throw error;
    throw new Refusal('rate_limit_exceeded', 'Too many people are signing in. Try again.', {
      retryAfterSeconds: busyRetrySeconds,
    });
  }
}

export const hashed = (deps: AccountDeps, password: string, { address }: Caller): Promise<string> =>
  orBusy(deps.crypto.passwords.hash(password, address));

export const isPassword = (
  deps: AccountDeps,
  password: string,
  hash: string | null,
  { address }: Caller,
): Promise<boolean> => orBusy(deps.crypto.passwords.verify(password, hash, address));

/**
 * Opens a session in the transaction that decided on it. The token is always new, so no token that a browser brought is
 * reused.
 */
export async function openSession(
  deps: AccountDeps,
  tx: AccountTransaction,
  account: AccountRow,
  caller: Caller,
): Promise<OpenedSession> {
  const token = deps.crypto.tokens.make();
  const userAgent = caller.userAgent?.slice(0, longestUserAgent) ?? null;
  const session = await tx.openSession(
    { accountId: account.id, hash: deps.crypto.tokens.hash(token), address: caller.address, userAgent },
    maxSessions,
  );
  return { token, session, account };
}

/** An event that the account itself caused. */
export function eventOf(accountId: string, caller: Caller, event: Happening & Pick<NewEvent, 'target'>): NewEvent {
  const { address, requestId } = caller;
  const actor = { kind: 'account', id: accountId } as const;
  return { ...event, accountId, agentId: null, by: { actor, address, requestId } };
}

export function requireOwner(me: SignedIn): void {
  if (me.account.role !== 'owner') throw new Refusal('owner_only', 'Only an owner may do this.');
}

const idShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a text can be an id. A malformed id is treated like one that does not exist. */
export const isId = (id: string): boolean => idShape.test(id);
