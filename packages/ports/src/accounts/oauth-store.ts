import type { Scope } from '@lodge/domain';
import type { NewApiKey } from './api-keys.ts';

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
 * The state of a device's request:
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

/** Another program that may ask for access. */
export interface OAuthClient {
  readonly id: string;
  /** As it calls itself: one line of visible characters. */
  readonly name: string;
  readonly redirectUris: readonly string[];
}

/** The access to which a person agreed, kept until its client exchanges the code. */
export interface NewCode {
  /** SHA-256 of the code, 32 bytes. */
  readonly hash: Uint8Array;
  readonly accountId: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly redirectUri: string;
  /** PKCE, by S256. */
  readonly challenge: string;
  readonly scopes: readonly Scope[];
  readonly resource: string | null;
}

export interface CodeRow extends NewCode {
  readonly isExpired: boolean;
  /** The grant that it was exchanged for; null: none yet. */
  readonly grantId: string | null;
}

/** Access that a person gave to a program. Its id is that of the API key that is its access token. */
export interface GrantRow {
  readonly id: string;
  readonly accountId: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly redirectHost: string;
  readonly scopes: readonly Scope[];
  readonly resource: string | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  /** When it ends unless it is renewed. */
  readonly expiresAt: Date;
}

/** The hashes of a refresh token: of its half that stays, and of its half that changes. */
export interface RefreshHashes {
  readonly family: Uint8Array;
  readonly rotation: Uint8Array;
}

/** A grant under its lock, with what its refresh tokens are checked by. */
export interface LockedGrant extends GrantRow {
  readonly isOver: boolean;
  readonly rotation: Uint8Array;
  readonly previousRotation: Uint8Array | null;
  /** Whether the last rotation is so young that its answer may have been lost. */
  readonly isFresh: boolean;
}

/** Requests of OAuth clients in the store, outside an account's transaction. All times are the database's. */
export interface OAuthStore {
  /** Writes a device's request and removes old ones. Null when too many of its network, or of all, wait. */
  createDevice(device: NewDevice): Promise<{ readonly expiresAt: Date } | 'too_many' | 'code_taken'>;
  /** A request that waits for a decision. */
  device(userCode: string): Promise<DeviceRow | null>;
  /** Says what became of a request, and counts the question. */
  pollDevice(deviceHash: Uint8Array): Promise<DevicePoll>;

  /** Writes a client and removes old ones that nobody agreed to. False when its network, or all, registered too many. */
  registerClient(client: OAuthClient, address: string): Promise<boolean>;
  client(id: string): Promise<OAuthClient | null>;
  /** The account of a code, whatever its state. */
  accountOfCode(hash: Uint8Array): Promise<string | null>;
  /** The grant of a refresh token's half that stays, or of an access token's hash. */
  grantOf(token: { readonly family: Uint8Array } | { readonly access: Uint8Array }): Promise<GrantRow | null>;
  /** Grants in force, newest first. */
  grants(accountId: string): Promise<readonly GrantRow[]>;
}

/** The same within an account's transaction. */
export interface OAuthTransaction {
  /** Writes a person's decision; no scope means that they refused. Null when the request waits no more. */
  decideDevice(userCode: string, accountId: string, granted: readonly Scope[]): Promise<DeviceRow | null>;
  /** Takes an approved request away. One of two simultaneous callers gets true. */
  takeDevice(deviceHash: Uint8Array): Promise<boolean>;

  /** Writes a code. The client is remembered as one that somebody agreed to. */
  insertCode(code: NewCode): Promise<void>;
  /** Locks a code, used or not. */
  lockCode(hash: Uint8Array): Promise<CodeRow | null>;
  /** Makes a grant with its key, and marks the code as used. */
  createGrant(code: CodeRow, redirectHost: string, refresh: RefreshHashes, key: NewApiKey): Promise<GrantRow>;
  lockGrant(id: string): Promise<LockedGrant | null>;
  /** Puts a new access and a new refresh token in place of the present ones. `keepsPrevious`: those before them stay known. */
  renewGrant(id: string, rotation: Uint8Array, key: NewApiKey, keepsPrevious: boolean): Promise<void>;
  /** Ids of the grants in force beyond so many, those that were used longest ago. */
  grantsBeyond(accountId: string, count: number): Promise<readonly string[]>;
}
