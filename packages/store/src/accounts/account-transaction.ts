import type { Role, SpendLimit } from '@lodge/domain';
import { EmailTakenError } from '@lodge/ports';
import type {
  AccountRow,
  AccountTransaction,
  ApiKeyRecord,
  Credentials,
  LinkKind,
  LinkRow,
  NewApiKey,
  NewEvent,
  NewLink,
  NewSession,
  RevokedKey,
  SessionRow,
} from '@lodge/ports';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { createKey, keyOf, liveKeys, revokeKey } from './account-keys.ts';
import { PostgresOAuthTransaction } from './oauth/oauth.ts';
import { accountColumns, toAccountRow, toCredentials } from './account-row.ts';
import { endVisits } from '../agents/agent-visits.ts';
import type { Schema } from '../database/schema.ts';
import { clearAttempts } from './attempts.ts';
import { appendEvent } from '../events/append.ts';
import { markEffective } from '../http/idempotency.ts';
import { createLink, endInvitation, endLinks, takeLink } from './account-links.ts';
import { endSession, endSessions, openSession } from './sessions.ts';

/** `AccountTransaction` on a transaction of Postgres. */
export class PostgresAccountTransaction implements AccountTransaction {
  private readonly trx: Kysely<Schema>;
  private hasChanged = false;
  private events = 0;
  private told = 0;

  readonly oauth: PostgresOAuthTransaction;

  constructor(trx: Kysely<Schema>) {
    this.trx = trx;
    this.oauth = new PostgresOAuthTransaction(trx, (writing, isChange) => this.changing(writing, isChange));
  }

  async lock(accountId: string): Promise<Credentials | null> {
    const row = await this.trx
      .selectFrom('accounts')
      .select(accountColumns)
      .where('id', '=', accountId)
      .forNoKeyUpdate()
      .executeTakeFirst();
    return row ? toCredentials(row) : null;
  }

  async createAccount(account: {
    readonly name: string;
    readonly email: string;
    readonly passwordHash: string;
    readonly role: Role;
  }): Promise<AccountRow> {
    const { name, email, passwordHash, role } = account;
    const insert = this.trx
      .insertInto('accounts')
      .values({ name, email, password_hash: passwordHash, role })
      .returning(accountColumns);
    return toAccountRow(await this.changing(orEmailTaken(insert.executeTakeFirstOrThrow())));
  }

  async setUp(
    accountId: string,
    account: { readonly name: string; readonly email: string; readonly passwordHash: string },
  ): Promise<AccountRow> {
    const { name, email, passwordHash } = account;
    const update = this.trx
      .updateTable('accounts')
      .set({ name, email, password_hash: passwordHash })
      .where('id', '=', accountId)
      .returning(accountColumns);
    return toAccountRow(await this.changing(orEmailTaken(update.executeTakeFirstOrThrow())));
  }

  async setPassword(accountId: string, passwordHash: string): Promise<void> {
    const update = this.trx.updateTable('accounts').set({ password_hash: passwordHash }).where('id', '=', accountId);
    await this.changing(update.execute());
    await endVisits(this.trx, accountId);
  }

  async setTotp(
    accountId: string,
    totp: { readonly sealed: string | null; readonly pendingSealed: string | null },
  ): Promise<void> {
    const update = this.trx
      .updateTable('accounts')
      .set({ totp_sealed: totp.sealed, totp_pending_sealed: totp.pendingSealed })
      .where('id', '=', accountId);
    await this.changing(update.execute());
  }

  async setRecordsLlmCalls(accountId: string, records: boolean): Promise<AccountRow> {
    const update = this.trx
      .updateTable('accounts')
      .set({ record_llm_calls: records })
      .where('id', '=', accountId)
      .returning(accountColumns);
    return toAccountRow(await this.changing(update.executeTakeFirstOrThrow()));
  }

  async setSpendLimit(accountId: string, limit: SpendLimit | null): Promise<boolean> {
    const update = this.trx
      .updateTable('accounts')
      .set({ spend_limit: limit && JSON.stringify(limit) })
      .where('id', '=', accountId);
    const { numUpdatedRows } = await this.changing(update.executeTakeFirst(), (written) => written.numUpdatedRows > 0n);
    return numUpdatedRows > 0n;
  }

  async useTotpStep(accountId: string, step: number): Promise<boolean> {
    const { numUpdatedRows } = await this.trx
      .updateTable('accounts')
      .set({ totp_last_step: step })
      .where('id', '=', accountId)
      .where(sql<boolean>`totp_last_step is null or totp_last_step < ${step}`)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  async startTotpSteps(accountId: string, step: number): Promise<void> {
    await this.trx.updateTable('accounts').set({ totp_last_step: step }).where('id', '=', accountId).execute();
  }

  async setRecoveryCodes(accountId: string, hashes: readonly Uint8Array[]): Promise<void> {
    await this.trx.deleteFrom('recovery_codes').where('account_id', '=', accountId).execute();
    if (hashes.length === 0) return;
    const rows = hashes.map((hash) => ({ account_id: accountId, hash }));
    await this.trx.insertInto('recovery_codes').values(rows).execute();
  }

  async useRecoveryCode(accountId: string, hash: Uint8Array): Promise<boolean> {
    const { numDeletedRows } = await this.trx
      .deleteFrom('recovery_codes')
      .where('account_id', '=', accountId)
      .where('hash', '=', hash)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  openSession(session: NewSession, most: number): Promise<SessionRow> {
    return this.changing(openSession(this.trx, session, most));
  }

  endSession(accountId: string, id: string): Promise<boolean> {
    return this.changing(endSession(this.trx, accountId, id), Boolean);
  }

  endSessions(accountId: string, except: string | null): Promise<number> {
    return this.changing(endSessions(this.trx, accountId, except), Boolean);
  }

  async rememberAddress(accountId: string, address: string): Promise<void> {
    await this.trx
      .insertInto('known_addresses')
      .values({ account_id: accountId, address })
      .onConflict((conflict) => conflict.columns(['account_id', 'address']).doUpdateSet({ last_at: sql<Date>`now()` }))
      .execute();
    await sql`
      delete from known_addresses where account_id = ${accountId} and address in (
        select address from known_addresses where account_id = ${accountId} order by last_at desc offset ${maxAddresses}
      )
    `.execute(this.trx);
  }

  clearAttempts(subjects: readonly string[]): Promise<void> {
    return clearAttempts(this.trx, subjects);
  }

  createLink(link: NewLink): Promise<LinkRow> {
    return this.changing(createLink(this.trx, link));
  }

  takeLink(kind: LinkKind, hash: Uint8Array): Promise<LinkRow | null> {
    return takeLink(this.trx, kind, hash);
  }

  endLinks(accountId: string, kind: LinkKind): Promise<void> {
    return endLinks(this.trx, accountId, kind);
  }

  endInvitation(id: string): Promise<boolean> {
    return this.changing(endInvitation(this.trx, id), Boolean);
  }

  liveKeys(accountId: string): Promise<number> {
    return liveKeys(this.trx, accountId);
  }

  createKey(accountId: string, key: NewApiKey): Promise<ApiKeyRecord> {
    return this.changing(createKey(this.trx, accountId, key));
  }

  key(accountId: string, id: string): Promise<ApiKeyRecord | null> {
    return keyOf(this.trx, accountId, id);
  }

  revokeKey(accountId: string, id: string): Promise<RevokedKey> {
    return this.changing(revokeKey(this.trx, accountId, id), ({ wasLive }) => wasLive);
  }

  async record(event: NewEvent, idempotencyKey?: string): Promise<void> {
    this.events += 1;
    await appendEvent(this.trx, event);
    if (idempotencyKey !== undefined) await markEffective(this.trx, event.accountId, idempotencyKey);
  }

  async tell(event: NewEvent): Promise<void> {
    this.told += 1;
    await appendEvent(this.trx, event);
  }

  /** Called before the commit. Throws for a change without its one event, and for an event without a change. */
  checkRecorded(): void {
    if (this.events === (this.hasChanged ? 1 : 0) && this.told <= this.events) return;
    throw new Error(`a transaction ${this.hasChanged ? 'with' : 'without'} a change wrote ${this.events} events`);
  }

  /** Notes a change that needs an event. A write that only counts, locks or uses something up needs none. */
  private changing<T>(writing: Promise<T>, isChange: (written: T) => boolean = () => true): Promise<T> {
    return writing.then((written) => {
      this.hasChanged ||= isChange(written);
      return written;
    });
  }
}

const maxAddresses = 20;

/** Translates a broken constraint, which Postgres names. */
async function orEmailTaken<T>(writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    const { code, constraint } = error as { readonly code?: unknown; readonly constraint?: unknown };
    if (code === '23505' && constraint === 'accounts_email_key') throw new EmailTakenError();
    throw error;
  }
}
