import { Refusal } from '@lodge/domain';
import { totpContext } from '@lodge/ports';
import type { Caller, SignedIn } from '@lodge/ports';
import { confirmationLimit } from './attempt-limits.ts';
import { countAttempt, eventOf, invalidCode } from './deps.ts';
import type { AccountDeps } from './deps.ts';
import { confirmPassword } from './password.ts';
import { useSecondFactor } from './sign-in.ts';

const alreadyOn = (): Refusal => new Refusal('invalid_request', 'The second factor is on already; turn it off first.');

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
  await deps.store.transaction(async (tx) => {
    const now = await tx.lock(id);
    if (!now || now.totpSealed !== null) throw alreadyOn();
    await tx.setTotp(id, { sealed: null, pendingSealed });
    await tx.record(eventOf(id, caller, { type: 'totp.begun', data: {} }));
  });
  return { secret, url: deps.crypto.secondFactors.url(secret, email ?? me.account.name) };
}

export async function confirmTotp(
  deps: AccountDeps,
  me: SignedIn,
  { code }: { readonly code: string },
  caller: Caller,
): Promise<readonly string[]> {
  const { id } = me.account;
  const { codes, hashes } = deps.crypto.secondFactors.makeRecoveryCodes();
  await deps.store.transaction(async (tx) => {
    const now = await tx.lock(id);
    if (!now || now.totpSealed !== null) throw alreadyOn();
    if (now.totpPendingSealed === null) throw new Refusal('invalid_request', 'No second factor was begun.');
    const given = deps.crypto.secondFactors.readCode(code);
    const secret = deps.secrets.open(now.totpPendingSealed, totpContext(id));
    const step = given.kind === 'totp' ? deps.crypto.secondFactors.step(secret, given.digits, deps.clock()) : null;
    if (step === null) throw invalidCode();
    await tx.setTotp(id, { sealed: now.totpPendingSealed, pendingSealed: null });
    // The code that put the factor in force is used up, so it does not sign in. Steps of an older secret do not apply to
    // this one.
    await tx.startTotpSteps(id, step);
    await tx.setRecoveryCodes(id, hashes);
    await tx.record(eventOf(id, caller, { type: 'totp.enabled', data: {} }));
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
  await deps.store.transaction(async (tx) => {
    const now = await tx.lock(id);
    if (!now || now.totpSealed === null) throw new Refusal('invalid_request', 'There is no second factor.');
    await useSecondFactor(deps, tx, now, code);
    await tx.setTotp(id, { sealed: null, pendingSealed: null });
    await tx.setRecoveryCodes(id, []);
    await tx.record(eventOf(id, caller, { type: 'totp.removed', data: {} }));
  });
  await deps.store.giveBackAttempt([limit.subject]);
}
