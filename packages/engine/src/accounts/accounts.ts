/**
 * Puts the account area's use-cases together over the store; the other files of this folder hold them. Each change is one
 * transaction with its line in the audit log. Secrets are hashed before the transaction begins.
 */
import type {
  Accounts,
  AccountStore,
  ClientDocuments,
  Cryptography,
  Log,
  SecretBox,
  AccountRow,
  By,
} from '@lodge/ports';
import { createKey, currentKey, keys, revokeKey } from './keys.ts';
import { KeptDocuments } from './oauth/kept-documents.ts';
import { createOAuth } from './oauth/oauth.ts';
import { endInvitation, invitations, invite, members, setSpendLimit } from './people.ts';
import { acceptInvitation, register, setUp } from './joining.ts';
import { changePassword, resetPassword } from './password.ts';
import { endOtherSessions, endSession, holds, signOut, signedIn } from './sessions.ts';
import { signIn } from './sign-in.ts';
import { beginTotp, confirmTotp, removeTotp } from './totp.ts';
import type { AccountDeps } from './deps.ts';
import { linkNotValid } from './deps.ts';
import { PendingTimes } from './pending-times.ts';

const pruneEveryMs = 3_600_000;

export interface AccountsOptions {
  readonly store: AccountStore;
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
export interface ClosableAccounts extends Accounts {
  close(): Promise<void>;
}

export function createAccounts(options: AccountsOptions): ClosableAccounts {
  const { store, log } = options;
  const deps: AccountDeps = {
    ...options,
    clientDocuments: options.clientDocuments ? new KeptDocuments(options.clientDocuments) : null,
    clock: options.clock ?? (() => new Date()),
    seen: new PendingTimes('last sight of sessions', (times) => store.recordSeen(times), log),
  };
  const pruning = setInterval(() => {
    store.prune().catch((error: unknown) => log.warn({ err: error }, 'old sessions and links not removed'));
  }, pruneEveryMs).unref();

  return {
    registrationOpen: options.registrationOpen,
    csrfToken: (token) => deps.crypto.tokens.csrfOf(token),
    signedIn: (token) => signedIn(deps, token),
    holds: (token) => holds(deps, token),
    async link(token) {
      const link = deps.crypto.tokens.isWellFormed(token) ? await store.link(deps.crypto.tokens.hash(token)) : null;
      if (!link) throw linkNotValid();
      return link;
    },
    setUp: (input, caller) => setUp(deps, input, caller),
    acceptInvitation: (input, caller) => acceptInvitation(deps, input, caller),
    register: (input, caller) => register(deps, input, caller),
    signIn: (input, caller) => signIn(deps, input, caller),
    signOut: (me, caller) => signOut(deps, me, caller),
    resetPassword: (input, caller) => resetPassword(deps, input, caller),
    sessions: (me) => store.sessions(me.account.id),
    endSession: (me, id, caller) => endSession(deps, me, id, caller),
    endOtherSessions: (me, caller) => endOtherSessions(deps, me, caller),
    changePassword: (me, input, caller) => changePassword(deps, me, input, caller),
    beginTotp: (me, input, caller) => beginTotp(deps, me, input, caller),
    confirmTotp: (me, input, caller) => confirmTotp(deps, me, input, caller),
    removeTotp: (me, input, caller) => removeTotp(deps, me, input, caller),
    account: (id) => account(deps, id),
    update: (id, change, by) => update(deps, id, change, by),
    keys: (accountId) => keys(deps, accountId),
    currentKey: (of) => currentKey(deps, of),
    createKey: (maker, input, note) => createKey(deps, maker, input, note),
    revokeKey: (accountId, id, by) => revokeKey(deps, accountId, id, by),
    oauth: createOAuth(deps),
    invitations: (me) => invitations(deps, me),
    invite: (me, input, caller) => invite(deps, me, input, caller),
    endInvitation: (me, id, caller) => endInvitation(deps, me, id, caller),
    members: (me) => members(deps, me),
    setSpendLimit: (me, id, limit, caller) => setSpendLimit(deps, me, id, limit, caller),
    close() {
      clearInterval(pruning);
      return deps.seen.flush();
    },
  };
}

async function account({ store }: AccountDeps, id: string): Promise<AccountRow> {
  const found = await store.byId(id);
  if (!found) throw new Error('an account is never deleted, and this one is not there');
  return found.account;
}

function update(
  { store }: AccountDeps,
  id: string,
  { recordsLlmCalls }: { readonly recordsLlmCalls: boolean },
  by: By,
): Promise<AccountRow> {
  return store.transaction(async (tx) => {
    const before = await tx.lock(id);
    if (before?.account.recordsLlmCalls === recordsLlmCalls) return before.account;
    const changed = await tx.setRecordsLlmCalls(id, recordsLlmCalls);
    const target = { kind: 'account', id };
    const data = { record_llm_calls: recordsLlmCalls };
    await tx.record({ accountId: id, type: 'account.updated', data, agentId: null, by, target });
    return changed;
  });
}
