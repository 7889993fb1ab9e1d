import { Refusal } from '@lodge/domain';
import {
  clearAttempts,
  endLinks,
  endSessions,
  findAccount,
  findLink,
  lockAccount,
  setRecoveryCodes,
  takeLink,
  updateAccount,
} from '@lodge/store/accounts';
import type { AccountRow, LinkRow } from '@lodge/store/accounts';
import { endVisits } from '@lodge/store/agents';
import type { Transaction } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';
import { accountLimit, confirmationLimit } from './attempt-limits.ts';
import { checkPassword } from './person.ts';
import {
  countAttempt,
  eventOf,
  giveBackAttempt,
  hashed,
  isPassword,
  linkNotValid,
  openSession,
  rememberAddress,
} from './deps.ts';
import type { AccountDeps } from './deps.ts';
import { useSecondFactor } from './sign-in.ts';
import type { Caller, OpenedSession, SignedIn } from './signed-in.ts';

const wrongPassword = (): Refusal => new Refusal('invalid_credentials', 'The password is wrong.');

/**
 * Confirms a signed-in person's password: a stolen session must not be enough to keep the account. Returns the hash that
 * matched.
 */
export async function confirmPassword(
  deps: AccountDeps,
  me: SignedIn,
  password: string,
  caller: Caller,
): Promise<string> {
  const limit = confirmationLimit(me.account.id);
  await countAttempt(deps, [limit]);
  const account = await deps.database.repeatable((db) => findAccount(db, me.account.id));
  const hash = account?.passwordHash ?? null;
  if (!(await isPassword(deps, password, hash, caller))) throw wrongPassword();
  await giveBackAttempt(deps, [limit]);
  return hash!;
}

export async function changePassword(
  deps: AccountDeps,
  me: SignedIn,
  { currentPassword, newPassword }: { readonly currentPassword: string; readonly newPassword: string },
  caller: Caller,
): Promise<OpenedSession> {
  const { id, email } = me.account;
  checkPassword('new_password', newPassword, email);
  const confirmed = await confirmPassword(deps, me, currentPassword, caller);
  const passwordHash = await hashed(deps, newPassword, caller);
  return deps.database.transaction(async (trx) => {
    const now = await lockAccount(trx, id);
    // Another change came first, and this session ended with it.
    if (now?.passwordHash !== confirmed) throw wrongPassword();
    const ended = await setPassword(trx, id, passwordHash);
    const opened = await openSession(deps, trx, now, caller);
    await appendEvent(trx, eventOf(id, caller, { type: 'password.changed', data: { sessions_ended: ended } }));
    return opened;
  });
}

/** Sets a new password, and ends all that the old one opened. Returns the number of ended sessions. */
async function setPassword(trx: Transaction, id: string, passwordHash: string): Promise<number> {
  await updateAccount(trx, id, { passwordHash });
  await endVisits(trx, id);
  const ended = await endSessions(trx, id, null);
  await endLinks(trx, id, 'reset');
  return ended;
}

/**
 * Sets a new password by the operator's link. The second factor stays in force and is asked for, unless the link removes it.
 */
export async function resetPassword(
  deps: AccountDeps,
  input: { readonly token: string; readonly password: string; readonly code?: string },
  caller: Caller,
): Promise<OpenedSession> {
  const { tokens } = deps.crypto;
  const hash = tokens.hash(input.token);
  const link = tokens.isWellFormed(input.token) && (await deps.database.repeatable((db) => findLink(db, hash)));
  if (!link || link.kind !== 'reset') throw linkNotValid();
  checkPassword('password', input.password, link.email);
  const limit = confirmationLimit(link.accountId);
  await countAttempt(deps, [limit]);
  const passwordHash = await hashed(deps, input.password, caller);
  const opened = await deps.database
    .transaction(async (trx) => {
      const mine = await takeLink(trx, 'reset', hash);
      const now = mine && (await lockAccount(trx, mine.accountId));
      if (!mine || !now) throw linkNotValid();
      const { id, email } = now;
      const account = await passSecondFactor(deps, trx, now, mine, input.code);
      const ended = await setPassword(trx, id, passwordHash);
      await rememberAddress(trx, id, caller);
      const limits = [false, true].map((isKnown) => accountLimit(email ?? '', caller.address, isKnown).subject);
      await clearAttempts(trx, limits);
      const session = await openSession(deps, trx, account, caller);
      const data = { sessions_ended: ended, totp_removed: mine.removesTotp };
      await appendEvent(trx, eventOf(id, caller, { type: 'password.reset', data }));
      return session;
    })
    .catch(async (error: unknown) => {
      // A request without a code is no guess.
      if (error instanceof Refusal && error.code === 'second_factor_required') await giveBackAttempt(deps, [limit]);
      throw error;
    });
  await giveBackAttempt(deps, [limit]);
  return opened;
}

/** Checks the second factor, or removes it where the link says so. Returns the account as it is then. */
async function passSecondFactor(
  deps: AccountDeps,
  trx: Transaction,
  account: AccountRow,
  { removesTotp }: LinkRow,
  code: string | undefined,
): Promise<AccountRow> {
  if (!removesTotp) {
    await useSecondFactor(deps, trx, account, code);
    return account;
  }
  await setRecoveryCodes(trx, account.id, []);
  return updateAccount(trx, account.id, { totpSealed: null, totpPendingSealed: null });
}
