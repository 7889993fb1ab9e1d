import type { DevicePoll, DeviceRow, NewDevice, OAuthStore, OAuthTransaction } from '@lodge/ports';
import type { Scope } from '@lodge/domain';
import type { Kysely } from 'kysely';
import type { Database } from '../../database/connection.ts';
import type { Schema } from '../../database/schema.ts';
import { createDevice, decideDevice, findDevice, pollDevice, takeDevice } from './devices.ts';

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
}
