import { Refusal, networkOf } from '@lodge/domain';
import type { Caller, OpenedSession, SignedIn } from '@lodge/ports';
import { accountLimit, confirmationLimit } from './attempt-limits.ts';
import { checkPassword } from './person.ts';
import { countAttempt, eventOf, hashed, isPassword, linkNotValid, openSession } from './deps.ts';
import type { AccountDeps } from './deps.ts';
import { useSecondFactor } from './sign-in.ts';

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
  const hash = (await deps.store.byId(me.account.id))?.passwordHash ?? null;
  if (!(await isPassword(deps, password, hash, caller))) throw wrongPassword();
  await deps.store.giveBackAttempt([limit.subject]);
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
  return deps.store.transaction(async (tx) => {
    const now = await tx.lock(id);
    // Another change came first, and this session ended with it.
    if (now?.passwordHash !== confirmed) throw wrongPassword();
    await tx.setPassword(id, passwordHash);
    const ended = await tx.endSessions(id, null);
    await tx.endLinks(id, 'reset');
    const opened = await openSession(deps, tx, now.account, caller);
    await tx.record(eventOf(id, caller, { type: 'password.changed', data: { sessions_ended: ended } }));
    return opened;
  });
}

/**
 * Sets a new password by the operator's link. The second factor stays in force and is asked for, unless the link removes it.
 */
export async function resetPassword(
  deps: AccountDeps,
  input: { readonly token: string; readonly password: string; readonly code?: string },
  caller: Caller,
): Promise<OpenedSession> {
  const hash = deps.crypto.tokens.hash(input.token);
  const link = deps.crypto.tokens.isWellFormed(input.token) ? await deps.store.link(hash) : null;
  if (link?.kind !== 'reset') throw linkNotValid();
  checkPassword('password', input.password, link.email);
  const limit = confirmationLimit(link.accountId);
  await countAttempt(deps, [limit]);
  const passwordHash = await hashed(deps, input.password, caller);
  const network = networkOf(caller.address);
  const opened = await deps.store
    .transaction(async (tx) => {
      const mine = await tx.takeLink('reset', hash);
      const now = mine && (await tx.lock(mine.accountId));
      if (!mine || !now) throw linkNotValid();
      const { id, email } = now.account;
      if (mine.removesTotp) {
        await tx.setTotp(id, { sealed: null, pendingSealed: null });
        await tx.setRecoveryCodes(id, []);
      } else await useSecondFactor(deps, tx, now, input.code);
      await tx.setPassword(id, passwordHash);
      const ended = await tx.endSessions(id, null);
      await tx.endLinks(id, 'reset');
      await tx.rememberAddress(id, network);
      const limits = [
        accountLimit(email ?? '', caller.address, false),
        accountLimit(email ?? '', caller.address, true),
      ];
      await tx.clearAttempts(limits.map(({ subject }) => subject));
      const account = { ...now.account, totpEnabled: now.account.totpEnabled && !mine.removesTotp };
      const session = await openSession(deps, tx, account, caller);
      const data = { sessions_ended: ended, totp_removed: mine.removesTotp };
      await tx.record(eventOf(id, caller, { type: 'password.reset', data }));
      return session;
    })
    .catch(async (error: unknown) => {
      // A request without a code is no guess.
      if (error instanceof Refusal && error.code === 'second_factor_required') {
        await deps.store.giveBackAttempt([limit.subject]);
      }
      throw error;
    });
  await deps.store.giveBackAttempt([limit.subject]);
  return opened;
}
