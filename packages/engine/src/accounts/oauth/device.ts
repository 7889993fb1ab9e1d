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
  networkOf,
  readUserCode,
  scopesOfRole,
  shownName,
  shownUserCode,
} from '@lodge/domain';
import type { Scope } from '@lodge/domain';
import * as store from '@lodge/store/accounts';
import type { AskingDevice, DeviceRow, KeyRow } from '@lodge/store/accounts';
import { appendEvent } from '@lodge/store/events';
import { userCodeLimits } from '../attempt-limits.ts';
import { countAttempt, eventOf, giveBackAttempt } from '../deps.ts';
import type { AccountDeps } from '../deps.ts';
import type { Caller, SignedIn } from '../signed-in.ts';
import { addKey, checkRoom, newKey } from '../keys.ts';
import { chosenScopes, readScopes } from './scopes.ts';

/** Two machines with one code are unlikely; thrice in a row is a fault. */
const maxTries = 3;

/** The beginning of a device's sign-in. Both codes are shown only once. */
export interface DeviceAuthorization {
  readonly deviceCode: string;
  /** Such as `BCDF-GHJK`. */
  readonly userCode: string;
  readonly expiresInSeconds: number;
  readonly intervalSeconds: number;
}

/** Begins a device's sign-in. Without scopes it asks for all but those that manage keys. */
export async function beginDevice(
  { crypto, database }: AccountDeps,
  input: { readonly clientName: string; readonly scope: string | null },
  address: string,
): Promise<DeviceAuthorization> {
  const clientName = shownName(input.clientName);
  if (clientName === null) {
    throw new Refusal('invalid_request', `client_name must have 1 to ${maxClientNameChars} visible characters.`);
  }
  const scopes = readScopes(input.scope);
  const network = networkOf(address);
  const deviceCode = crypto.tokens.make();
  const deviceHash = crypto.tokens.hash(deviceCode);
  for (let tries = 1; tries <= maxTries; tries += 1) {
    const userCode = crypto.tokens.makeUserCode();
    const isMade = await database.transaction(async (trx) => {
      // Counted under a lock, so that requests which come together do not pass the bounds.
      const { all, ofNetwork } = await store.lockDevices(trx, network);
      if (ofNetwork >= deviceBounds.maxPendingOfNetwork || all >= deviceBounds.maxPending) return null;
      return store.insertDevice(trx, { deviceHash, userCode, clientName, scopes, address, network });
    });
    if (isMade === null) throw tooManyWait();
    if (!isMade) continue;
    const { lifetimeSeconds: expiresInSeconds, intervalSeconds } = deviceBounds;
    return { deviceCode, userCode: shownUserCode(userCode), expiresInSeconds, intervalSeconds };
  }
  throw new Error('no free user code was found');
}

/** A machine that waits, and what the person who is asked may give it: those of the asked scopes that their role has. */
export type WaitingDevice = DeviceRow & { readonly grantable: readonly Scope[] };

/** Shows the machine that waits with this code. Every wrong code is counted. */
export async function waitingDevice(
  deps: AccountDeps,
  me: SignedIn,
  userCode: string,
  caller: Caller,
): Promise<WaitingDevice> {
  const { device } = await find(deps, me, userCode, caller);
  return { ...device, grantable: grantable(me, device) };
}

/** Gives the machine a key with these scopes once it fetches it, or refuses (null). */
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
  return deps.database.transaction(async (trx) => {
    await store.lockAccount(trx, accountId);
    if (chosen !== null) await checkRoom(trx, accountId);
    const row = await store.decideDevice(trx, code, accountId, scopes);
    if (row === undefined) throw noDevice();
    const target = { kind: 'device', id: row.id };
    const facts = { name: row.clientName, from: row.address };
    await appendEvent(
      trx,
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
}

/** Makes the key that was approved, and shows it once. Refuses while nobody has decided. */
export async function redeemDevice(
  deps: AccountDeps,
  deviceCode: string,
  caller: Caller,
): Promise<{ readonly key: string; readonly record: KeyRow }> {
  const { crypto, database } = deps;
  if (!crypto.tokens.isWellFormed(deviceCode)) throw unknownCode();
  const hash = crypto.tokens.hash(deviceCode);
  const { accountId, clientName: name, scopes } = approved(await database.once((db) => store.askingDevice(db, hash)));
  const made = newKey(deps, { name, scopes });
  const record = await database.transaction(async (trx) => {
    await store.lockAccount(trx, accountId);
    if (!(await store.takeDevice(trx, hash))) throw unknownCode();
    const actor = { kind: 'account', id: accountId } as const;
    const by = { actor, address: caller.address, requestId: caller.requestId };
    return addKey(trx, { ...made.stored, accountId }, { by });
  });
  return { key: made.key, record };
}

/** Returns what a person approved. Refuses while they have not, and ever after where they will not. */
function approved(device: AskingDevice | undefined) {
  if (device === undefined) throw unknownCode();
  const { accountId, clientName, granted: scopes, isExpired, isTooSoon } = device;
  if (scopes?.length === 0) throw new Refusal('access_denied', 'The person who was asked refused.');
  if (isExpired) throw new Refusal('expired_token', 'Nobody decided about this device code in time. Begin again.');
  if (accountId !== null && scopes !== null) return { accountId, clientName, scopes };
  if (!isTooSoon) throw new Refusal('authorization_pending', 'Nobody has decided yet.');
  throw new Refusal('slow_down', `Wait ${deviceBounds.intervalSeconds} s longer between two questions.`);
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
  const device = await deps.database.repeatable((db) => store.findDevice(db, code));
  if (device === undefined) throw noDevice();
  await giveBackAttempt(deps, limits);
  return { code, device };
}

function grantable({ account }: SignedIn, { scopes }: DeviceRow): readonly Scope[] {
  const own: readonly Scope[] = scopesOfRole[account.role];
  return scopes.filter((scope) => own.includes(scope));
}

const tooManyWait = (): Refusal =>
  new Refusal('rate_limit_exceeded', 'Too many machines wait to be signed in. Try again in a few minutes.', {
    retryAfterSeconds: 60,
  });

const noDevice = (): Refusal =>
  new Refusal(
    'device_code_not_found',
    'No machine waits with this code: it is wrong, was decided about, or has expired.',
  );

const unknownCode = (): Refusal =>
  new Refusal('invalid_grant', 'This device code is none, or its key was fetched already.');
