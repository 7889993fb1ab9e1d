import { Refusal } from '@lodge/domain';
import { totpContext } from '@lodge/ports';
import { lockAccount, setRecoveryCodes, updateAccount } from '@lodge/store/accounts';
import { appendEvent } from '@lodge/store/events';
import { confirmationLimit } from './attempt-limits.ts';
import { countAttempt, eventOf, giveBackAttempt, invalidCode } from './deps.ts';
import type { AccountDeps } from './deps.ts';
import { confirmPassword } from './password.ts';
import { useSecondFactor } from './sign-in.ts';
import type { Caller, SignedIn } from './signed-in.ts';

const alreadyOn = (): Refusal => new Refusal('invalid_request', 'The second factor is on already; turn it off first.');

/** Begins a second factor. It is in force only after `confirmTotp`. */
export async function beginTotp(
  deps: AccountDeps,
  me: SignedIn,
  { password }: { readonly password: string },
  caller: Caller,
): Promise<{ readonly secret: string; readonly url: string }> {
  const { id, email } = me.account;
  await confirmPassword(deps, me, password, caller);
  const secret = deps.crypto.secondFactors.makeSecret();
  const pendingSealed = deps.secrets.seal(secret, totpContext(id));
  await deps.database.transaction(async (trx) => {
    const now = await lockAccount(trx, id);
    if (!now || now.totpSealed !== null) throw alreadyOn();
    await updateAccount(trx, id, { totpSealed: null, totpPendingSealed: pendingSealed });
    await appendEvent(trx, eventOf(id, caller, { type: 'totp.begun', data: {} }));
  });
  return { secret, url: deps.crypto.secondFactors.url(secret, email ?? me.account.name) };
}

/** Puts the second factor in force and returns the recovery codes, which are shown only once. */
export async function confirmTotp(
  deps: AccountDeps,
  me: SignedIn,
  { code }: { readonly code: string },
  caller: Caller,
): Promise<readonly string[]> {
  const { id } = me.account;
  const { codes, hashes } = deps.crypto.secondFactors.makeRecoveryCodes();
  await deps.database.transaction(async (trx) => {
    const now = await lockAccount(trx, id);
    if (!now || now.totpSealed !== null) throw alreadyOn();
    if (now.totpPendingSealed === null) throw new Refusal('invalid_request', 'No second factor was begun.');
    const given = deps.crypto.secondFactors.readCode(code);
    const secret = deps.secrets.open(now.totpPendingSealed, totpContext(id));
    const step = given.kind === 'totp' ? deps.crypto.secondFactors.step(secret, given.digits, deps.clock()) : null;
    if (step === null) throw invalidCode();
    // The code that put the factor in force is used up, so it does not sign in. Steps of an older secret do not apply to
    // this one.
    const totpSealed = now.totpPendingSealed;
    await updateAccount(trx, id, { totpSealed, totpPendingSealed: null, totpLastStep: step });
    await setRecoveryCodes(trx, id, hashes);
    await appendEvent(trx, eventOf(id, caller, { type: 'totp.enabled', data: {} }));
  });
  return codes;
}

export async function removeTotp(
  deps: AccountDeps,
  me: SignedIn,
  { password, code }: { readonly password: string; readonly code: string },
  caller: Caller,
): Promise<void> {
  const { id } = me.account;
  await confirmPassword(deps, me, password, caller);
  const limit = confirmationLimit(id);
  await countAttempt(deps, [limit]);
  await deps.database.transaction(async (trx) => {
    const now = await lockAccount(trx, id);
    if (!now || now.totpSealed === null) throw new Refusal('invalid_request', 'There is no second factor.');
    await useSecondFactor(deps, trx, now, code);
    await updateAccount(trx, id, { totpSealed: null, totpPendingSealed: null });
    await setRecoveryCodes(trx, id, []);
    await appendEvent(trx, eventOf(id, caller, { type: 'totp.removed', data: {} }));
  });
  await giveBackAttempt(deps, [limit]);
}
