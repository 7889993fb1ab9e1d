import type { Scope } from '@lodge/domain';

/** A machine that asks for a key. */
export interface NewDevice {
  /** SHA-256 of the device code, 32 bytes. */
  readonly deviceHash: Uint8Array;
  readonly userCode: string;
  readonly clientName: string;
  readonly scopes: readonly Scope[];
  readonly address: string;
}

/** A machine that waits for a person, as that person sees it. */
export interface DeviceRow {
  readonly id: string;
  readonly clientName: string;
  readonly scopes: readonly Scope[];
  /** Where the request came from. */
  readonly address: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/**
 * What became of a device's request:
 *
 * - `unknown`: there is none, or its key was fetched.
 * - `slow_down`: nobody has decided, and the machine asks too often.
 * - `approved`: `accountId` gives `scopes`.
 */
export type DevicePoll =
  | { readonly state: 'unknown' | 'expired' | 'pending' | 'slow_down' | 'denied' }
  | {
      readonly state: 'approved';
      readonly accountId: string;
      readonly clientName: string;
      readonly scopes: readonly Scope[];
    };

/** Requests of OAuth clients in the store, outside an account's transaction. All times are the database's. */
export interface OAuthStore {
  /** Writes a device's request and removes old ones. Null when too many of its network, or of all, wait. */
  createDevice(device: NewDevice): Promise<{ readonly expiresAt: Date } | 'too_many' | 'code_taken'>;
  /** A request that waits for a decision. */
  device(userCode: string): Promise<DeviceRow | null>;
  /** Says what became of a request, and counts the question. */
  pollDevice(deviceHash: Uint8Array): Promise<DevicePoll>;
}

/** The same within an account's transaction. */
export interface OAuthTransaction {
  /** Writes a person's decision; no scope means that they refused. Null when the request waits no more. */
  decideDevice(userCode: string, accountId: string, granted: readonly Scope[]): Promise<DeviceRow | null>;
  /** Takes an approved request away. One of two simultaneous callers gets true. */
  takeDevice(deviceHash: Uint8Array): Promise<boolean>;
}
