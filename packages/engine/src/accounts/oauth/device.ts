/**
 * Device authorization (RFC 8628): a machine asks for a key, a person decides in the account area, and the machine fetches
 * the key by a code that it alone has.
 *
 *   beginDevice -> waiting -> decideDevice -> approved -> redeemDevice: the key is made and told, and the row is gone
 *                     |                    -> denied
 *                     +-> expired
 *
 * The key is made when it is fetched, so its plaintext is stored nowhere. A machine that dies before leaves nothing.
 */
import {
  Refusal,
  deviceBounds,
  maxClientNameChars,
  readUserCode,
  scopesOfRole,
  shownName,
  shownUserCode,
} from '@lodge/domain';
import type { Scope } from '@lodge/domain';
import type { Caller, DeviceAuthorization, DeviceKey, DeviceRow, SignedIn, WaitingDevice } from '@lodge/ports';
import { userCodeLimits } from '../attempt-limits.ts';
import { countAttempt, eventOf } from '../deps.ts';
import type { AccountDeps } from '../deps.ts';
import { addKey, checkRoom, newKey } from '../keys.ts';
import { chosenScopes, readScopes } from './scopes.ts';

/** Two machines with one code are unlikely; thrice in a row is a fault. */
const maxTries = 3;

export async function beginDevice(
  { crypto, store }: AccountDeps,
  input: { readonly clientName: string; readonly scope: string | null },
  address: string,
): Promise<DeviceAuthorization> {
  const clientName = shownName(input.clientName);
  if (clientName === null) {
    throw new Refusal('invalid_request', `client_name must have 1 to ${maxClientNameChars} visible characters.`);
  }
  const scopes = readScopes(input.scope);
  const deviceCode = crypto.tokens.make();
  const deviceHash = crypto.tokens.hash(deviceCode);
  for (let tries = 1; tries <= maxTries; tries += 1) {
    const userCode = crypto.tokens.makeUserCode();
    const made = await store.oauth.createDevice({ deviceHash, userCode, clientName, scopes, address });
    if (made === 'too_many') {
      throw new Refusal('rate_limit_exceeded', 'Too many machines wait to be signed in. Try again in a few minutes.', {
        retryAfterSeconds: 60,
      });
    }
    if (made === 'code_taken') continue;
    const { lifetimeSeconds: expiresInSeconds, intervalSeconds } = deviceBounds;
    return { deviceCode, userCode: shownUserCode(userCode), expiresInSeconds, intervalSeconds };
  }
  throw new Error('no free user code was found');
}

export async function waitingDevice(
  deps: AccountDeps,
  me: SignedIn,
  userCode: string,
  caller: Caller,
): Promise<WaitingDevice> {
  const { device } = await find(deps, me, userCode, caller);
  return { ...device, grantable: grantable(me, device) };
}

export async function decideDevice(
  deps: AccountDeps,
  me: SignedIn,
  userCode: string,
  chosen: readonly Scope[] | null,
  caller: Caller,
): Promise<DeviceRow> {
  const { code, device } = await find(deps, me, userCode, caller);
  const accountId = me.account.id;
  const scopes = chosen === null ? [] : chosenScopes(chosen, grantable(me, device));
  const decided = await deps.store.transaction(async (tx) => {
    await tx.lock(accountId);
    if (chosen !== null) await checkRoom(tx, accountId);
    const row = await tx.oauth.decideDevice(code, accountId, scopes);
    if (row === null) return null;
    const target = { kind: 'device', id: row.id };
    const facts = { name: row.clientName, from: row.address };
    await tx.record(
      eventOf(
        accountId,
        caller,
        chosen === null
          ? { type: 'device.denied', data: facts, target }
          : { type: 'device.approved', data: { ...facts, scopes }, target },
      ),
    );
    return row;
  });
  if (decided === null) throw noDevice();
  return decided;
}

export async function redeemDevice(deps: AccountDeps, deviceCode: string, caller: Caller): Promise<DeviceKey> {
  const { crypto, store } = deps;
  if (!crypto.tokens.isWellFormed(deviceCode)) throw unknownCode();
  const hash = crypto.tokens.hash(deviceCode);
  const poll = await store.oauth.pollDevice(hash);
  switch (poll.state) {
    case 'unknown':
      throw unknownCode();
    case 'expired':
      throw new Refusal('expired_token', 'Nobody decided about this device code in time. Begin again.');
    case 'denied':
      throw new Refusal('access_denied', 'The person who was asked refused.');
    case 'pending':
      throw new Refusal('authorization_pending', 'Nobody has decided yet.');
    case 'slow_down':
      throw new Refusal('slow_down', `Wait ${deviceBounds.intervalSeconds} s longer between two questions.`);
    case 'approved':
  }
  const { accountId, clientName: name, scopes } = poll;
  const made = newKey(deps, { name, scopes });
  const record = await store.transaction(async (tx) => {
    await tx.lock(accountId);
    if (!(await tx.oauth.takeDevice(hash))) throw unknownCode();
    const by = {
      actor: { kind: 'account', id: accountId },
      address: caller.address,
      requestId: caller.requestId,
    } as const;
    return addKey(tx, accountId, made.stored, { by });
  });
  return { key: made.key, record };
}

/** Looks a code up for a person. A wrong one counts against the person and their network, before it is looked at. */
async function find(
  deps: AccountDeps,
  me: SignedIn,
  userCode: string,
  { address }: Caller,
): Promise<{ readonly code: string; readonly device: DeviceRow }> {
  const code = readUserCode(userCode);
  // A text that is no code guesses nothing.
  if (code === null) throw noDevice();
  const limits = userCodeLimits(me.account.id, address);
  await countAttempt(deps, limits);
  const device = await deps.store.oauth.device(code);
  if (device === null) throw noDevice();
  await deps.store.giveBackAttempt(limits.map(({ subject }) => subject));
  return { code, device };
}

function grantable({ account }: SignedIn, { scopes }: DeviceRow): readonly Scope[] {
  const own: readonly Scope[] = scopesOfRole[account.role];
  return scopes.filter((scope) => own.includes(scope));
}

const noDevice = (): Refusal =>
  new Refusal(
    'device_code_not_found',
    'No machine waits with this code: it is wrong, was decided about, or has expired.',
  );

const unknownCode = (): Refusal =>
  new Refusal('invalid_grant', 'This device code is none, or its key was fetched already.');
