import type {
  AccountRow,
  AccountStore,
  AccountTransaction,
  ApiKeyRecord,
  AttemptLimit,
  Credentials,
  LinkRow,
  MemberRow,
  NewEvent,
  NewLink,
  SessionRow,
} from '@lodge/ports';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { keysOf } from './account-keys.ts';
import { pruneVisits } from '../agents/agent-visits.ts';
import { accountColumns, toAccountRow, toCredentials } from './account-row.ts';
import type { Schema } from '../database/schema.ts';
import { appendEvent } from '../events/append.ts';
import { PostgresAccountTransaction } from './account-transaction.ts';
import { giveBackAttempt, pruneAttempts, takeAttempt } from './attempts.ts';
import type { Database } from '../database/connection.ts';
import { createFirstOwnerLink, findLink, invitations, pruneLinks } from './account-links.ts';
import { pruneClients } from './oauth/clients.ts';
import { pruneDevices } from './oauth/devices.ts';
import { pruneCodes } from './oauth/grants.ts';
import { PostgresOAuthStore } from './oauth/oauth.ts';
import { findSession, pruneSessions, recordSeen, sessionsOf } from './sessions.ts';

const maxPruned = 1000;
const prunes = [pruneSessions, pruneLinks, pruneAttempts, pruneVisits, pruneDevices, pruneCodes, pruneClients] as const;

/** `AccountStore` in Postgres. */
export class PostgresAccountStore implements AccountStore {
  private readonly database: Database;
  readonly oauth: PostgresOAuthStore;

  constructor(database: Database) {
    this.database = database;
    this.oauth = new PostgresOAuthStore(database);
  }

  private read<T>(work: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    return this.database.repeatable((db) => work(db));
  }

  async byEmail(
    email: string,
    address: string,
  ): Promise<{ readonly credentials: Credentials; readonly knownAddress: boolean } | null> {
    const row = await this.read((db) =>
      db
        .selectFrom('accounts')
        .select(accountColumns)
        .select(
          sql<boolean>`exists (
            select from known_addresses k where k.account_id = accounts.id and k.address = ${address}
          )`.as('known_address'),
        )
        .where('email', '=', email)
        .executeTakeFirst(),
    );
    return row ? { credentials: toCredentials(row), knownAddress: row.known_address } : null;
  }

  async byId(accountId: string): Promise<Credentials | null> {
    const row = await this.read((db) =>
      db.selectFrom('accounts').select(accountColumns).where('id', '=', accountId).executeTakeFirst(),
    );
    return row ? toCredentials(row) : null;
  }

  async owners(): Promise<readonly AccountRow[]> {
    const rows = await this.read((db) =>
      db
        .selectFrom('accounts')
        .select(accountColumns)
        .where('role', '=', 'owner')
        .orderBy('created_at')
        .orderBy('id')
        .execute(),
    );
    return rows.map(toAccountRow);
  }

  async members(): Promise<readonly MemberRow[]> {
    const rows = await this.read((db) =>
      db
        .selectFrom('accounts')
        .select(accountColumns)
        .select(
          sql<number>`(
            select count(*)::int from agents where agents.account_id = accounts.id and agents.deleted_at is null
          )`.as('agents'),
        )
        .orderBy('created_at')
        .orderBy('id')
        .limit(1000)
        .execute(),
    );
    return rows.map((row) => ({ ...toAccountRow(row), agents: row.agents }));
  }

  async session(hash: Uint8Array): Promise<{ readonly session: SessionRow; readonly account: AccountRow } | null> {
    const session = await this.read((db) => findSession(db, hash));
    const credentials = session && (await this.byId(session.accountId));
    return credentials ? { session, account: credentials.account } : null;
  }

  sessions(accountId: string): Promise<readonly SessionRow[]> {
    return this.read((db) => sessionsOf(db, accountId));
  }

  recordSeen(seen: ReadonlyMap<string, Date>): Promise<void> {
    return this.read((db) => recordSeen(db, seen));
  }

  link(hash: Uint8Array): Promise<LinkRow | null> {
    return this.read((db) => findLink(db, hash));
  }

  invitations(): Promise<readonly LinkRow[]> {
    return this.read(invitations);
  }

  keys(accountId: string): Promise<readonly ApiKeyRecord[]> {
    return this.read((db) => keysOf(db, accountId));
  }

  takeAttempt(limits: readonly AttemptLimit[]): Promise<{ readonly waitSeconds: number } | null> {
    return this.database.once((db) => takeAttempt(db, limits));
  }

  giveBackAttempt(subjects: readonly string[]): Promise<void> {
    return this.database.once((db) => giveBackAttempt(db, subjects));
  }

  createFirstOwnerLink(link: Pick<NewLink, 'hash' | 'lifetimeSeconds'>): Promise<boolean> {
    return this.database.transaction((trx) => createFirstOwnerLink(trx, link));
  }

  transaction<T>(work: (tx: AccountTransaction) => Promise<T>): Promise<T> {
    return this.database.transaction(async (trx) => {
      const tx = new PostgresAccountTransaction(trx);
      const result = await work(tx);
      tx.checkRecorded();
      return result;
    });
  }

  note(event: NewEvent): Promise<void> {
    return this.database.transaction((trx) => appendEvent(trx, event));
  }

  async prune(): Promise<void> {
    for (const prune of prunes) await this.read((db) => prune(db, maxPruned));
  }
}
