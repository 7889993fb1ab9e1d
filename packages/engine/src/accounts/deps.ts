import { Refusal, networkOf } from '@lodge/domain';
import type { Happening } from '@lodge/domain';
import { BusyError } from '@lodge/ports';
import type { Cryptography, NewEvent, SecretBox } from '@lodge/ports';
import * as store from '@lodge/store/accounts';
import type { AccountRow, AttemptLimit } from '@lodge/store/accounts';
import type { Database, Transaction } from '@lodge/store/database';
import type { KeptDocuments } from './oauth/kept-documents.ts';
import type { PendingTimes } from './pending-times.ts';
import type { Caller, OpenedSession, SignedIn } from './signed-in.ts';

/** Dependencies of the account area's use-cases. */
export interface AccountDeps {
  readonly database: Database;
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

type UseCase = (deps: AccountDeps, ...given: never[]) => unknown;
type Given<Of> = Of extends (deps: AccountDeps, ...given: infer Rest) => infer Result
  ? (...given: Rest) => Result
  : never;

/** Gives each use-case its dependencies, which are its first parameter. */
export const withDeps = <Of extends Record<string, UseCase>>(deps: AccountDeps, useCases: Of) =>
  Object.fromEntries(
    Object.entries(useCases).map(([name, useCase]) => [name, (...given: never[]) => useCase(deps, ...given)]),
  ) as { readonly [Name in keyof Of]: Given<Of[Name]> };

/** Sessions of one account; beyond these, the one that was seen longest ago ends. */
const maxSessions = 50;
/** Addresses that an account is known to sign in from. */
const maxAddresses = 20;
const longestUserAgent = 300;
const busyRetrySeconds = 2;

export const linkNotValid = (): Refusal =>
  new Refusal('link_not_valid', 'This link is not valid: it was used, has expired, or never was.');

export const emailTaken = (): Refusal => new Refusal('email_taken', 'There is an account with this e-mail already.');

export const invalidCode = (): Refusal => new Refusal('invalid_code', 'This code is not valid, or was used already.');

export const secondFactorRequired = (): Refusal =>
  new Refusal('second_factor_required', 'Give the code of your authenticator, or a recovery code.');

/**
 * Counts the attempt on each limit before its outcome is known, so simultaneous attempts are all counted. Refuses with 429 when
 * one of the limits says to wait, and then counts it on none.
 */
export function countAttempt({ database }: AccountDeps, limits: readonly AttemptLimit[]): Promise<void> {
  // One order keeps two transactions from waiting for each other.
  const ordered = limits.toSorted((a, b) => (a.subject < b.subject ? -1 : 1));
  return database.transaction(async (trx) => {
    for (const limit of ordered) {
      const retryAfterSeconds = await store.countAttempt(trx, limit);
      if (retryAfterSeconds === null) continue;
      throw new Refusal('rate_limit_exceeded', 'Too many attempts. Wait a while, then try again.', {
        retryAfterSeconds,
      });
    }
  });
}

/** Takes one attempt off again, because it was none that counts. */
export const giveBackAttempt = ({ database }: AccountDeps, limits: readonly AttemptLimit[]): Promise<void> =>
  database.once((db) =>
    store.giveBackAttempt(
      db,
      limits.map(({ subject }) => subject),
    ),
  );

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
  { crypto: { tokens } }: AccountDeps,
  trx: Transaction,
  account: AccountRow,
  { address, ...caller }: Caller,
): Promise<OpenedSession> {
  const token = tokens.make();
  const userAgent = caller.userAgent?.slice(0, longestUserAgent) ?? null;
  const hash = tokens.hash(token);
  const session = await store.openSession(trx, { accountId: account.id, hash, address, userAgent }, maxSessions);
  return { token, session, account };
}

/** Remembers where somebody signed in from. */
export const rememberAddress = (trx: Transaction, accountId: string, { address }: Caller): Promise<void> =>
  store.rememberAddress(trx, accountId, networkOf(address), maxAddresses);

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
