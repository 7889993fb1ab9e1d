import type { Scope } from '@lodge/domain';
import type { ApiKeyRecord } from './account-store.ts';
import type { Caller, SignedIn } from './signed-in.ts';
import type { DeviceRow } from './oauth-store.ts';

/** The beginning of a device's sign-in (RFC 8628). Both codes are shown only once. */
export interface DeviceAuthorization {
  readonly deviceCode: string;
  /** Such as `BCDF-GHJK`. */
  readonly userCode: string;
  readonly expiresInSeconds: number;
  readonly intervalSeconds: number;
}

/** A machine that waits, and what the person who is asked may give it. */
export interface WaitingDevice extends DeviceRow {
  /** Those of the asked scopes that the person's role has. */
  readonly grantable: readonly Scope[];
}

/** A key as its device gets it, once. */
export interface DeviceKey {
  readonly key: string;
  readonly record: ApiKeyRecord;
}

/** Sign-in for programs: device authorization. Every method may throw `Refusal`. */
export interface OAuth {
  /** Begins a device's sign-in. Without scopes it asks for all but those that manage keys. */
  beginDevice(
    input: { readonly clientName: string; readonly scope: string | null },
    address: string,
  ): Promise<DeviceAuthorization>;
  /** Shows the machine that waits with this code. Every wrong code is counted. */
  waitingDevice(me: SignedIn, userCode: string, caller: Caller): Promise<WaitingDevice>;
  /** Gives the machine a key with these scopes once it fetches it, or refuses (null). */
  decideDevice(me: SignedIn, userCode: string, scopes: readonly Scope[] | null, caller: Caller): Promise<DeviceRow>;
  /** Makes the key that was approved. Refuses while nobody has. */
  redeemDevice(deviceCode: string, caller: Caller): Promise<DeviceKey>;
}
