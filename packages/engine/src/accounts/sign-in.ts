import { Refusal, networkOf } from '@lodge/domain';
import { totpContext } from '@lodge/ports';
import {
  accountByEmail,
  clearAttempts,
  lockAccount,
  updateAccount,
  useRecoveryCode,
  useTotpStep,
} from '@lodge/store/accounts';
import type { AccountRow } from '@lodge/store/accounts';
import { endVisits } from '@lodge/store/agents';
import type { Transaction } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';
import { accountLimit, addressLimit } from './attempt-limits.ts';
import { normaliseEmail } from './person.ts';
import {
  countAttempt,
  eventOf,
  giveBackAttempt,
  hashed,
  invalidCode,
  isPassword,
  openSession,
  rememberAddress,
  secondFactorRequired,
} from './deps.ts';
import type { AccountDeps } from './deps.ts';
import type { Caller, OpenedSession } from './signed-in.ts';

const invalidCredentials = (): Refusal => new Refusal('invalid_credentials', 'E-mail or password is wrong.');

/**
 * Signs somebody in. An unknown e-mail takes the same steps as a known one until the answer: the same queries, the same
 * count, one hashed password. A right password without its code is no guess and is not counted.
 */
export async function signIn(
  deps: AccountDeps,
  input: { readonly email: string; readonly password: string; readonly code?: string },
  caller: Caller,
): Promise<OpenedSession> {
  const email = normaliseEmail(input.email);
  const network = networkOf(caller.address);
  const found = await deps.database.repeatable((db) => accountByEmail(db, email, network));
  const account = accountLimit(email, caller.address, found?.isKnownAddress ?? false);
  const limits = [addressLimit(caller.address), account];
  await countAttempt(deps, limits);
  const giveBack = (): Promise<void> => giveBackAttempt(deps, limits);

  const checking = isPassword(deps, input.password, found?.passwordHash ?? null, caller);
  const right = await checking.catch(async (error: unknown) => {
    // Somebody who was turned away because too many sign in has not guessed.
    await giveBack();
    throw error;
  });
  if (!right || !found) throw invalidCredentials();
  if (found.totpSealed !== null && input.code === undefined) {
    await giveBack();
    throw secondFactorRequired();
  }
  const rehashed = deps.crypto.passwords.isOutdated(found.passwordHash!)
    ? await hashed(deps, input.password, caller)
    : null;
  const opened = await deps.database.transaction(async (trx) => {
    const { id } = found;
    const now = await lockAccount(trx, id);
    // The password was changed during the check, so the old one opens nothing any more.
    if (now?.passwordHash !== found.passwordHash) throw invalidCredentials();
    const factor = await useSecondFactor(deps, trx, now, input.code);
    if (rehashed !== null) {
      await updateAccount(trx, id, { passwordHash: rehashed });
      await endVisits(trx, id);
    }
    await rememberAddress(trx, id, caller);
    await clearAttempts(trx, [account.subject]);
    const session = await openSession(deps, trx, now, caller);
    const target = { kind: 'session', id: session.session.id };
    await appendEvent(trx, eventOf(id, caller, { type: 'session.created', target, data: { second_factor: factor } }));
    return session;
  });
  await giveBackAttempt(deps, [limits[0]!]);
  return opened;
}

/** Checks the code, where the account wants one, and uses it up. The caller holds the account's lock. Throws the refusal. */
export async function useSecondFactor(
  deps: AccountDeps,
  trx: Transaction,
  { id, totpSealed }: AccountRow,
  given: string | undefined,
): Promise<'none' | 'totp' | 'recovery_code'> {
  if (totpSealed === null) return 'none';
  if (given === undefined) throw secondFactorRequired();
  const code = deps.crypto.secondFactors.readCode(given);
  if (code.kind === 'recovery') {
    if (!(await useRecoveryCode(trx, id, code.hash))) throw invalidCode();
    return 'recovery_code';
  }
  const secret = deps.secrets.open(totpSealed, totpContext(id));
  const step = deps.crypto.secondFactors.step(secret, code.digits, deps.clock());
  if (step === null || !(await useTotpStep(trx, id, step))) throw invalidCode();
  return 'totp';
}
