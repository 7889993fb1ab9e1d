import { Refusal } from '@lodge/domain';
import type { Caller, SignedIn } from '@lodge/ports';
import { eventOf, isId } from './deps.ts';
import type { AccountDeps } from './deps.ts';

/** Asks the store each time, so a session that ended is over everywhere at once. */
export async function signedIn(deps: AccountDeps, token: string): Promise<SignedIn | null> {
  if (!deps.crypto.tokens.isWellFormed(token)) return null;
  const found = await deps.store.session(deps.crypto.tokens.hash(token));
  if (found) deps.seen.note(found.session.id, deps.clock());
  return found;
}

/**
 * Whether the session still holds, for connections that stay open. A page that only listens does not prolong its session.
 */
export async function holds({ crypto, store }: AccountDeps, token: string): Promise<boolean> {
  return crypto.tokens.isWellFormed(token) && (await store.session(crypto.tokens.hash(token))) !== null;
}

export async function signOut(deps: AccountDeps, me: SignedIn, caller: Caller): Promise<void> {
  await end(deps, me, me.session.id, caller);
}

export async function endSession(deps: AccountDeps, me: SignedIn, id: string, caller: Caller): Promise<void> {
  if (isId(id) && (await end(deps, me, id, caller))) return;
  throw new Refusal('session_not_found', 'There is no such session.');
}

function end(deps: AccountDeps, { account }: SignedIn, id: string, caller: Caller): Promise<boolean> {
  return deps.store.transaction(async (tx) => {
    if (!(await tx.endSession(account.id, id))) return false;
    await tx.record(eventOf(account.id, caller, { type: 'session.ended', data: {}, target: { kind: 'session', id } }));
    return true;
  });
}

export async function endOtherSessions(deps: AccountDeps, me: SignedIn, caller: Caller): Promise<void> {
  await deps.store.transaction(async (tx) => {
    const sessions = await tx.endSessions(me.account.id, me.session.id);
    const data = { sessions };
    if (sessions > 0) await tx.record(eventOf(me.account.id, caller, { type: 'sessions.ended', data }));
  });
}
