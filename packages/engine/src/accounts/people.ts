import { isDeepStrictEqual } from 'node:util';
import { Refusal } from '@lodge/domain';
import type { InvitedRole, SpendLimit } from '@lodge/domain';
import type { Caller, LinkRow, MemberRow, SignedIn } from '@lodge/ports';
import { linkLifetimes } from '@lodge/ports';
import { checkEmail } from './person.ts';
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
  input: { readonly email: string | null; readonly role?: InvitedRole },
  caller: Caller,
): Promise<{ readonly link: LinkRow; readonly token: string }> {
  requireOwner(me);
  const email = input.email === null ? null : checkEmail(input.email);
  const { role = 'member' } = input;
  const accountId = me.account.id;
  const token = deps.crypto.tokens.make();
  const link = await deps.store.transaction(async (tx) => {
    const made = await tx.createLink({
      kind: 'invite',
      accountId,
      email,
      role,
      hash: deps.crypto.tokens.hash(token),
      lifetimeSeconds: linkLifetimes.invite,
    });
    const target = { kind: 'invitation', id: made.id };
    await tx.record(eventOf(accountId, caller, { type: 'invitation.created', target, data: { email, role } }));
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
      await tx.record(eventOf(me.account.id, caller, { type: 'invitation.ended', data: {}, target }));
      return true;
    }));
  if (!ended) throw new Refusal('invitation_not_found', 'There is no such invitation, or it was used already.');
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
    const before = await tx.lock(accountId);
    if (before === null) return false;
    if (isDeepStrictEqual(before.account.spendLimit, limit)) return true;
    await tx.setSpendLimit(accountId, limit);
    const target = { kind: 'account', id: accountId };
    const data = { daily_usd: null, monthly_usd: null, action: null, ...(limit && wordsOf(limit)) };
    const event = { type: 'account.spend_limit_set', target, data } as const;
    await tx.record(eventOf(me.account.id, caller, event));
    if (accountId !== me.account.id) await tx.tell({ ...event, accountId, agentId: null, by: null });
    return true;
  });
  if (!isSet) throw new Refusal('account_not_found', 'There is no such account.');
}

const wordsOf = ({ dailyUsd, monthlyUsd, action }: SpendLimit) => ({
  daily_usd: dailyUsd,
  monthly_usd: monthlyUsd,
  action,
});
