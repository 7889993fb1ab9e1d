import { Refusal } from '@lodge/domain';
import * as store from '@lodge/store/accounts';
import type { SessionRow } from '@lodge/store/accounts';
import { appendEvent } from '@lodge/store/events';
import { eventOf, isId } from './deps.ts';
import type { AccountDeps } from './deps.ts';
import type { Caller, SignedIn } from './signed-in.ts';

/** The session in force of a token; null when there is none or it has ended. */
async function sessionOf({ crypto: { tokens }, database }: AccountDeps, token: string): Promise<SessionRow | null> {
  if (!tokens.isWellFormed(token)) return null;
  return (await database.repeatable((db) => store.findSession(db, tokens.hash(token)))) ?? null;
}

/** Asks the store each time, so a session that ended is over everywhere at once. Records that it was seen. */
export async function signedIn(deps: AccountDeps, token: string): Promise<SignedIn | null> {
  const session = await sessionOf(deps, token);
  const account = session && (await deps.database.repeatable((db) => store.findAccount(db, session.accountId)));
  if (!session || !account) return null;
  deps.seen.note(session.id, deps.clock());
  return { session, account };
}

/**
 * Whether the session still holds, for connections that stay open. A page that only listens does not prolong its session.
 */
export const holds = async (deps: AccountDeps, token: string): Promise<boolean> =>
  (await sessionOf(deps, token)) !== null;

/** Those in force, last seen first. */
export const sessions = ({ database }: AccountDeps, { account }: SignedIn): Promise<readonly SessionRow[]> =>
  database.repeatable((db) => store.sessionsOf(db, account.id));

export async function signOut(deps: AccountDeps, me: SignedIn, caller: Caller): Promise<void> {
  await end(deps, me, me.session.id, caller);
}

export async function endSession(deps: AccountDeps, me: SignedIn, id: string, caller: Caller): Promise<void> {
  if (isId(id) && (await end(deps, me, id, caller))) return;
  throw new Refusal('session_not_found', 'There is no such session.');
}

function end({ database }: AccountDeps, { account }: SignedIn, id: string, caller: Caller): Promise<boolean> {
  return database.transaction(async (trx) => {
    if (!(await store.endSession(trx, account.id, id))) return false;
    const target = { kind: 'session', id };
    await appendEvent(trx, eventOf(account.id, caller, { type: 'session.ended', data: {}, target }));
    return true;
  });
}

export async function endOtherSessions({ database }: AccountDeps, me: SignedIn, caller: Caller): Promise<void> {
  await database.transaction(async (trx) => {
    const sessions = await store.endSessions(trx, me.account.id, me.session.id);
    const data = { sessions };
    if (sessions > 0) await appendEvent(trx, eventOf(me.account.id, caller, { type: 'sessions.ended', data }));
  });
}
