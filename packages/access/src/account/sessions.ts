import { AccountRefusal } from '@lodge/engine/ports';
import type { Caller, SignedIn } from '@lodge/engine/ports';
import { hashToken, isToken } from '../tokens.ts';
import { eventOf, isId } from './deps.ts';
import type { AccountDeps } from './deps.ts';

/** Asked of the store each time: a session that ended is at its end everywhere at once. */
export async function signedIn(deps: AccountDeps, token: string): Promise<SignedIn | null> {
  if (!isToken(token)) return null;
  const found = await deps.store.session(hashToken(token));
  if (found) deps.seen.note(found.session.id, deps.clock());
  return found;
}

export async function signOut(deps: AccountDeps, me: SignedIn, caller: Caller): Promise<void> {
  await end(deps, me, me.session.id, caller);
}

export async function endSession(deps: AccountDeps, me: SignedIn, id: string, caller: Caller): Promise<void> {
  if (isId(id) && (await end(deps, me, id, caller))) return;
  throw new AccountRefusal('session_not_found', 'There is no such session.');
}

function end(deps: AccountDeps, { account }: SignedIn, id: string, caller: Caller): Promise<boolean> {
  return deps.store.transaction(async (tx) => {
    if (!(await tx.endSession(account.id, id))) return false;
    await tx.audit(eventOf(account.id, caller, { action: 'session.ended', target: { kind: 'session', id } }));
    return true;
  });
}

export async function endOtherSessions(deps: AccountDeps, me: SignedIn, caller: Caller): Promise<void> {
  await deps.store.transaction(async (tx) => {
    const sessions = await tx.endSessions(me.account.id, me.session.id);
    const details = { sessions };
    if (sessions > 0) await tx.audit(eventOf(me.account.id, caller, { action: 'sessions.ended', details }));
  });
}
