/**
 * Puts the account area's use-cases together over the store; the other files of this folder hold them. Each change is one
 * transaction with its line in the audit log, and one event. Secrets are hashed before the transaction begins.
 */
import type { By, ClientDocuments, Cryptography, Log, SecretBox } from '@lodge/ports';
import * as store from '@lodge/store/accounts';
import type { AccountRow, LinkRow } from '@lodge/store/accounts';
import { pruneVisits } from '@lodge/store/agents';
import type { Database } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';
import { createKey, currentKey, keys, revokeKey } from './keys.ts';
import { KeptDocuments } from './oauth/kept-documents.ts';
import { createOAuth } from './oauth/oauth.ts';
import { endInvitation, invitations, invite, members, setSpendLimit } from './people.ts';
import { acceptInvitation, register, setUp } from './joining.ts';
import { changePassword, resetPassword } from './password.ts';
import { endOtherSessions, endSession, holds, sessions, signOut, signedIn } from './sessions.ts';
import { signIn } from './sign-in.ts';
import { beginTotp, confirmTotp, removeTotp } from './totp.ts';
import { linkNotValid, withDeps } from './deps.ts';
import type { AccountDeps } from './deps.ts';
import { PendingTimes } from './pending-times.ts';

const pruneEveryMs = 3_600_000;
const maxPruned = 1_000;
const prunes = [
  store.pruneSessions,
  store.pruneLinks,
  store.pruneAttempts,
  pruneVisits,
  store.pruneDevices,
  store.pruneCodes,
  store.pruneClients,
] as const;

export interface AccountsOptions {
  readonly database: Database;
  readonly secrets: SecretBox;
  readonly crypto: Cryptography;
  readonly log: Log;
  readonly registrationOpen: boolean;
  /** Where browsers reach this service. Known only once it listens. */
  readonly origin: () => string;
  /** Reads the documents of OAuth clients that do not register; without it all register. */
  readonly clientDocuments?: ClientDocuments;
  /** Default: the system's clock. */
  readonly clock?: () => Date;
}

/** The account use-cases. They also write when sessions were last seen; `close` writes the remaining times. */
export type Accounts = ReturnType<typeof createAccounts>;

const useCases = {
  link,
  signedIn,
  holds,
  setUp,
  acceptInvitation,
  register,
  signIn,
  signOut,
  resetPassword,
  sessions,
  endSession,
  endOtherSessions,
  changePassword,
  beginTotp,
  confirmTotp,
  removeTotp,
  account,
  update,
  keys,
  currentKey,
  createKey,
  revokeKey,
  invitations,
  invite,
  endInvitation,
  members,
  setSpendLimit,
};

export function createAccounts(options: AccountsOptions) {
  const { database, log, crypto, registrationOpen } = options;
  const deps: AccountDeps = {
    ...options,
    clientDocuments: options.clientDocuments ? new KeptDocuments(options.clientDocuments) : null,
    clock: options.clock ?? (() => new Date()),
    seen: new PendingTimes(
      'last sight of sessions',
      (times) => database.repeatable((db) => store.recordSeen(db, times)),
      log,
    ),
  };
  const pruning = setInterval(() => {
    prune(database).catch((error: unknown) => log.warn({ err: error }, 'old sessions and links not removed'));
  }, pruneEveryMs).unref();

  return {
    ...withDeps(deps, useCases),
    registrationOpen,
    oauth: createOAuth(deps),
    /** Returns the token that every changing request of the session must carry beside its cookie. */
    csrfToken: (token: string): string => crypto.tokens.csrfOf(token),
    close(): Promise<void> {
      clearInterval(pruning);
      return deps.seen.flush();
    },
  };
}

/** Removes sessions, links and counts that no longer matter, in bounded steps. */
export async function prune(database: Database): Promise<void> {
  for (const each of prunes) await database.repeatable((db) => each(db, maxPruned));
}

/** Returns a link that can still be used. */
async function link({ crypto: { tokens }, database }: AccountDeps, token: string): Promise<LinkRow> {
  const found =
    tokens.isWellFormed(token) && (await database.repeatable((db) => store.findLink(db, tokens.hash(token))));
  if (!found) throw linkNotValid();
  return found;
}

async function account({ database }: AccountDeps, id: string): Promise<AccountRow> {
  const found = await database.repeatable((db) => store.findAccount(db, id));
  if (!found) throw new Error('an account is never deleted, and this one is not there');
  return found;
}

function update(
  { database }: AccountDeps,
  id: string,
  { recordLlmCalls }: { readonly recordLlmCalls: boolean },
  by: By,
): Promise<AccountRow> {
  return database.transaction(async (trx) => {
    const before = await store.lockAccount(trx, id);
    if (before?.recordLlmCalls === recordLlmCalls) return before;
    const changed = await store.updateAccount(trx, id, { recordLlmCalls });
    const target = { kind: 'account', id };
    const data = { record_llm_calls: recordLlmCalls };
    await appendEvent(trx, { accountId: id, type: 'account.updated', data, agentId: null, by, target });
    return changed;
  });
}
