import type { SpendLimit } from '@lodge/domain';
import { AccountRefusal } from '@lodge/engine/ports';
import type { Caller, LinkRow, MemberRow, SignedIn } from '@lodge/engine/ports';
import { linkLifetimes } from '../owner-link.ts';
import { checkEmail } from '../people.ts';
import { hashToken, makeToken } from '../tokens.ts';
import { eventOf, isId, requireOwner } from './deps.ts';
import type { AccountDeps } from './deps.ts';

export async function members(deps: AccountDeps, me: SignedIn): Promise<readonly MemberRow[]> {
  requireOwner(me);
  return deps.store.members();
}

export async function invitations(deps: AccountDeps, me: SignedIn): Promise<readonly LinkRow[]> {
  requireOwner(me);
  return deps.store.invitations();
}

export async function invite(
  deps: AccountDeps,
  me: SignedIn,
  input: { readonly email: string | null },
  caller: Caller,
): Promise<{ readonly link: LinkRow; readonly token: string }> {
  requireOwner(me);
  const email = input.email === null ? null : checkEmail(input.email);
  const accountId = me.account.id;
  const token = makeToken();
  const link = await deps.store.transaction(async (tx) => {
    const made = await tx.createLink({
      kind: 'invite',
      accountId,
      email,
      hash: hashToken(token),
      lifetimeSeconds: linkLifetimes.invite,
    });
    const target = { kind: 'invitation', id: made.id };
    await tx.audit(eventOf(accountId, caller, { action: 'invitation.created', target, details: { email } }));
    return made;
  });
  return { link, token };
}

export async function endInvitation(deps: AccountDeps, me: SignedIn, id: string, caller: Caller): Promise<void> {
  requireOwner(me);
  const ended =
    isId(id) &&
    (await deps.store.transaction(async (tx) => {
      if (!(await tx.endInvitation(id))) return false;
      const target = { kind: 'invitation', id };
      await tx.audit(eventOf(me.account.id, caller, { action: 'invitation.ended', target }));
      return true;
    }));
  if (!ended) throw new AccountRefusal('invitation_not_found', 'There is no such invitation, or it was used already.');
}

export async function setSpendLimit(
  deps: AccountDeps,
  me: SignedIn,
  accountId: string,
  limit: SpendLimit | null,
  caller: Caller,
): Promise<void> {
  requireOwner(me);
  const isSet = await deps.store.transaction(async (tx) => {
    if (!(await tx.setSpendLimit(accountId, limit))) return false;
    const target = { kind: 'account', id: accountId };
    const details = { daily_usd: null, monthly_usd: null, action: null, ...(limit && wordsOf(limit)) };
    await tx.audit(eventOf(me.account.id, caller, { action: 'account.spend_limit_set', target, details }));
    return true;
  });
  if (!isSet) throw new AccountRefusal('account_not_found', 'There is no such account.');
}

const wordsOf = ({ dailyUsd, monthlyUsd, action }: SpendLimit) => ({
  daily_usd: dailyUsd,
  monthly_usd: monthlyUsd,
  action,
});
