import type { Scope } from '@lodge/domain';
import type {
  CodeRow,
  DevicePoll,
  DeviceRow,
  GrantRow,
  LockedGrant,
  NewApiKey,
  NewCode,
  NewDevice,
  OAuthClient,
  OAuthStore,
  OAuthTransaction,
  RefreshHashes,
} from '@lodge/ports';
import type { Kysely } from 'kysely';
import type { Database } from '../../database/connection.ts';
import type { Schema } from '../../database/schema.ts';
import { findClient, registerClient } from './clients.ts';
import { createDevice, decideDevice, findDevice, pollDevice, takeDevice } from './devices.ts';
import {
  accountOfCode,
  createGrant,
  grantOf,
  grantsBeyond,
  grantsOf,
  insertCode,
  lockCode,
  lockGrant,
  renewGrant,
} from './grants.ts';

/** `OAuthStore` in Postgres. */
export class PostgresOAuthStore implements OAuthStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  createDevice(device: NewDevice): Promise<{ readonly expiresAt: Date } | 'too_many' | 'code_taken'> {
    return this.database.once((db) => createDevice(db, device));
  }

  device(userCode: string): Promise<DeviceRow | null> {
    return this.database.repeatable((db) => findDevice(db, userCode));
  }

  pollDevice(deviceHash: Uint8Array): Promise<DevicePoll> {
    return this.database.once((db) => pollDevice(db, deviceHash));
  }

  registerClient(client: OAuthClient, address: string): Promise<boolean> {
    return this.database.once((db) => registerClient(db, client, address));
  }

  client(id: string): Promise<OAuthClient | null> {
    return this.database.repeatable((db) => findClient(db, id));
  }

  accountOfCode(hash: Uint8Array): Promise<string | null> {
    return this.database.repeatable((db) => accountOfCode(db, hash));
  }

  grantOf(token: { readonly family: Uint8Array } | { readonly access: Uint8Array }): Promise<GrantRow | null> {
    return this.database.repeatable((db) => grantOf(db, token));
  }

  grants(accountId: string): Promise<readonly GrantRow[]> {
    return this.database.repeatable((db) => grantsOf(db, accountId));
  }
}

/** `OAuthTransaction` within the transaction of an account. `changing` notes a change that needs an event. */
export class PostgresOAuthTransaction implements OAuthTransaction {
  private readonly trx: Kysely<Schema>;
  private readonly changing: <T>(writing: Promise<T>, isChange?: (written: T) => boolean) => Promise<T>;

  constructor(trx: Kysely<Schema>, changing: PostgresOAuthTransaction['changing']) {
    this.trx = trx;
    this.changing = changing;
  }

  decideDevice(userCode: string, accountId: string, granted: readonly Scope[]): Promise<DeviceRow | null> {
    return this.changing(decideDevice(this.trx, userCode, accountId, granted), Boolean);
  }

  takeDevice(deviceHash: Uint8Array): Promise<boolean> {
    return takeDevice(this.trx, deviceHash);
  }

  insertCode(code: NewCode): Promise<void> {
    return this.changing(insertCode(this.trx, code));
  }

  lockCode(hash: Uint8Array): Promise<CodeRow | null> {
    return lockCode(this.trx, hash);
  }

  createGrant(code: CodeRow, redirectHost: string, refresh: RefreshHashes, key: NewApiKey): Promise<GrantRow> {
    return this.changing(createGrant(this.trx, code, redirectHost, refresh, key));
  }

  lockGrant(id: string): Promise<LockedGrant | null> {
    return lockGrant(this.trx, id);
  }

  renewGrant(id: string, rotation: Uint8Array, key: NewApiKey, keepsPrevious: boolean): Promise<void> {
    return renewGrant(this.trx, id, rotation, key, keepsPrevious);
  }

  grantsBeyond(accountId: string, count: number): Promise<readonly string[]> {
    return grantsBeyond(this.trx, accountId, count);
  }
}
