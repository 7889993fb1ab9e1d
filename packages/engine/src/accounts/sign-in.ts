import { Refusal, networkOf } from '@lodge/domain';
import { totpContext } from '@lodge/ports';
import type { AccountTransaction, Caller, Credentials, OpenedSession } from '@lodge/ports';
import { accountLimit, addressLimit } from './attempt-limits.ts';
import { normaliseEmail } from './person.ts';
import { countAttempt, eventOf, hashed, invalidCode, isPassword, openSession, secondFactorRequired } from './deps.ts';
import type { AccountDeps } from './deps.ts';

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
  const found = await deps.store.byEmail(email, network);
  const account = accountLimit(email, caller.address, found?.knownAddress ?? false);
  const limits = [addressLimit(caller.address), account];
  await countAttempt(deps, limits);
  const giveBack = (): Promise<void> => deps.store.giveBackAttempt(limits.map(({ subject }) => subject));

  const credentials = found?.credentials ?? null;
  const checking = isPassword(deps, input.password, credentials?.passwordHash ?? null, caller);
  const right = await checking.catch(async (error: unknown) => {
    // Somebody who was turned away because too many sign in has not guessed.
    await giveBack();
    throw error;
  });
  if (!right || !credentials) throw invalidCredentials();
  if (credentials.totpSealed !== null && input.code === undefined) {
    await giveBack();
    throw secondFactorRequired();
  }
  const rehashed = deps.crypto.passwords.isOutdated(credentials.passwordHash!)
    ? await hashed(deps, input.password, caller)
    : null;
  const opened = await deps.store.transaction(async (tx) => {
    const { id } = credentials.account;
    const now = await tx.lock(id);
    // The password was changed during the check, so the old one opens nothing any more.
    if (now?.passwordHash !== credentials.passwordHash) throw invalidCredentials();
    const factor = await useSecondFactor(deps, tx, now, input.code);
    if (rehashed !== null) await tx.setPassword(id, rehashed);
    await tx.rememberAddress(id, network);
    await tx.clearAttempts([account.subject]);
    const session = await openSession(deps, tx, now.account, caller);
    const target = { kind: 'session', id: session.session.id };
    await tx.record(eventOf(id, caller, { type: 'session.created', target, data: { second_factor: factor } }));
    return session;
  });
  await deps.store.giveBackAttempt([limits[0]!.subject]);
  return opened;
}

/** Checks the code, where the account wants one, and uses it up. The caller holds the account's lock. Throws the refusal. */
export async function useSecondFactor(
  deps: AccountDeps,
  tx: AccountTransaction,
  { account, totpSealed }: Credentials,
  given: string | undefined,
): Promise<'none' | 'totp' | 'recovery_code'> {
  if (totpSealed === null) return 'none';
  if (given === undefined) throw secondFactorRequired();
  const code = deps.crypto.secondFactors.readCode(given);
  if (code.kind === 'recovery') {
    if (!(await tx.useRecoveryCode(account.id, code.hash))) throw invalidCode();
    return 'recovery_code';
  }
  const secret = deps.secrets.open(totpSealed, totpContext(account.id));
  const step = deps.crypto.secondFactors.step(secret, code.digits, deps.clock());
  if (step === null || !(await tx.useTotpStep(account.id, step))) throw invalidCode();
  return 'totp';
}
