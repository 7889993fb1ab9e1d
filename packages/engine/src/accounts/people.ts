import { isDeepStrictEqual } from 'node:util';
import { Refusal, linkLifetimes } from '@lodge/domain';
import type { InvitedRole, SpendLimit } from '@lodge/domain';
import * as store from '@lodge/store/accounts';
import type { LinkRow, MemberRow } from '@lodge/store/accounts';
import { appendEvent } from '@lodge/store/events';
import { checkEmail } from './person.ts';
import { eventOf, isId, requireOwner } from './deps.ts';
import type { AccountDeps } from './deps.ts';
import type { Caller, SignedIn } from './signed-in.ts';

export async function members({ database }: AccountDeps, me: SignedIn): Promise<readonly MemberRow[]> {
  requireOwner(me);
  return database.repeatable(store.membersOf);
}

/** Those that were accepted or can still be, newest first. */
export async function invitations({ database }: AccountDeps, me: SignedIn): Promise<readonly LinkRow[]> {
  requireOwner(me);
  return database.repeatable(store.invitationsOf);
}

export async function invite(
  { database, crypto: { tokens } }: AccountDeps,
  me: SignedIn,
  input: { readonly email: string | null; readonly role?: InvitedRole },
  caller: Caller,
): Promise<{ readonly link: LinkRow; readonly token: string }> {
  requireOwner(me);
  const email = input.email === null ? null : checkEmail(input.email);
  const { role = 'member' } = input;
  const accountId = me.account.id;
  const token = tokens.make();
  const hash = tokens.hash(token);
  const link = await database.transaction(async (trx) => {
    const lifetimeSeconds = linkLifetimes.invite;
    const made = await store.insertLink(trx, { kind: 'invite', accountId, email, role, hash, lifetimeSeconds });
    const target = { kind: 'invitation', id: made.id };
    await appendEvent(trx, eventOf(accountId, caller, { type: 'invitation.created', target, data: { email, role } }));
    return made;
  });
  return { link, token };
}

export async function endInvitation(
  { database }: AccountDeps,
  me: SignedIn,
  id: string,
  caller: Caller,
): Promise<void> {
  requireOwner(me);
  const ended =
    isId(id) &&
    (await database.transaction(async (trx) => {
      if (!(await store.endInvitation(trx, id))) return false;
      const target = { kind: 'invitation', id };
      await appendEvent(trx, eventOf(me.account.id, caller, { type: 'invitation.ended', data: {}, target }));
      return true;
    }));
  if (!ended) throw new Refusal('invitation_not_found', 'There is no such invitation, or it was used already.');
}

/** Sets the limit of any account; only an owner may. With null the deployment's default applies. */
export async function setSpendLimit(
  { database }: AccountDeps,
  me: SignedIn,
  accountId: string,
  limit: SpendLimit | null,
  caller: Caller,
): Promise<void> {
  requireOwner(me);
  const isSet = await database.transaction(async (trx) => {
    const before = await store.lockAccount(trx, accountId);
    if (before === undefined) return false;
    if (isDeepStrictEqual(before.spendLimit, limit)) return true;
    await store.updateAccount(trx, accountId, { spendLimit: limit && JSON.stringify(limit) });
    const target = { kind: 'account', id: accountId };
    const data = { daily_usd: null, monthly_usd: null, action: null, ...(limit && wordsOf(limit)) };
    const event = { type: 'account.spend_limit_set', target, data } as const;
    await appendEvent(trx, eventOf(me.account.id, caller, event));
    // The account learns of it too.
    if (accountId !== me.account.id) await appendEvent(trx, { ...event, accountId, agentId: null, by: null });
    return true;
  });
  if (!isSet) throw new Refusal('account_not_found', 'There is no such account.');
}

const wordsOf = ({ dailyUsd, monthlyUsd, action }: SpendLimit) => ({
  daily_usd: dailyUsd,
  monthly_usd: monthlyUsd,
  action,
});
