import type { SpendLimit } from '@lodge/domain';
import { EmailTakenError } from '@lodge/engine/ports';
import type {
  AccountRow,
  AccountTransaction,
  ApiKeyRecord,
  Credentials,
  LinkKind,
  LinkRow,
  NewApiKey,
  NewAuditEvent,
  NewLink,
  NewSession,
  Role,
  SessionRow,
} from '@lodge/engine/ports';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { createKey, liveKeys, revokeKey } from './account-keys.ts';
import { accountColumns, toAccountRow, toCredentials } from './account-row.ts';
import { endVisits } from './agent-visits.ts';
import type { Schema } from './schema.ts';
import { clearAttempts } from './attempts.ts';
import { writeAudit } from './audit.ts';
import { createLink, endInvitation, endLinks, takeLink } from './links.ts';
import { endSession, endSessions, openSession } from './sessions.ts';

/** `AccountTransaction` on a transaction of Postgres. */
export class PostgresAccountTransaction implements AccountTransaction {
  private readonly trx: Kysely<Schema>;

  constructor(trx: Kysely<Schema>) {
    this.trx = trx;
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
    return toAccountRow(await orEmailTaken(insert.executeTakeFirstOrThrow()));
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
    return toAccountRow(await orEmailTaken(update.executeTakeFirstOrThrow()));
  }

  async setPassword(accountId: string, passwordHash: string): Promise<void> {
    await this.trx.updateTable('accounts').set({ password_hash: passwordHash }).where('id', '=', accountId).execute();
    await endVisits(this.trx, accountId);
  }

  async setTotp(
    accountId: string,
    totp: { readonly sealed: string | null; readonly pendingSealed: string | null },
  ): Promise<void> {
    await this.trx
      .updateTable('accounts')
      .set({ totp_sealed: totp.sealed, totp_pending_sealed: totp.pendingSealed })
      .where('id', '=', accountId)
      .execute();
  }

  async setRecordsLlmCalls(accountId: string, records: boolean): Promise<AccountRow> {
    const row = await this.trx
      .updateTable('accounts')
      .set({ record_llm_calls: records })
      .where('id', '=', accountId)
      .returning(accountColumns)
      .executeTakeFirstOrThrow();
    return toAccountRow(row);
  }

  async setSpendLimit(accountId: string, limit: SpendLimit | null): Promise<boolean> {
    const { numUpdatedRows } = await this.trx
      .updateTable('accounts')
      .set({ spend_limit: limit && JSON.stringify(limit) })
      .where('id', '=', accountId)
      .executeTakeFirst();
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
    return openSession(this.trx, session, most);
  }

  endSession(accountId: string, id: string): Promise<boolean> {
    return endSession(this.trx, accountId, id);
  }

  endSessions(accountId: string, except: string | null): Promise<number> {
    return endSessions(this.trx, accountId, except);
  }

  async rememberAddress(accountId: string, address: string): Promise<void> {
    await this.trx
      .insertInto('known_addresses')
      .values({ account_id: accountId, address })
      .onConflict((conflict) => conflict.columns(['account_id', 'address']).doUpdateSet({ last_at: sql<Date>`now()` }))
      .execute();
    await sql`
      delete from known_addresses where account_id = ${accountId} and address in (
        select address from known_addresses where account_id = ${accountId} order by last_at desc offset ${mostAddresses}
      )
    `.execute(this.trx);
  }

  clearAttempts(subjects: readonly string[]): Promise<void> {
    return clearAttempts(this.trx, subjects);
  }

  createLink(link: NewLink): Promise<LinkRow> {
    return createLink(this.trx, link);
  }

  takeLink(kind: LinkKind, hash: Uint8Array): Promise<LinkRow | null> {
    return takeLink(this.trx, kind, hash);
  }

  endLinks(accountId: string, kind: LinkKind): Promise<void> {
    return endLinks(this.trx, accountId, kind);
  }

  endInvitation(id: string): Promise<boolean> {
    return endInvitation(this.trx, id);
  }

  liveKeys(accountId: string): Promise<number> {
    return liveKeys(this.trx, accountId);
  }

  createKey(accountId: string, key: NewApiKey): Promise<ApiKeyRecord> {
    return createKey(this.trx, accountId, key);
  }

  revokeKey(
    accountId: string,
    id: string,
  ): Promise<{ readonly revoked: ApiKeyRecord | null; readonly wasLive: boolean }> {
    return revokeKey(this.trx, accountId, id);
  }

  audit(event: NewAuditEvent): Promise<void> {
    return writeAudit(this.trx, event);
  }
}

const mostAddresses = 20;

/** Postgres names the constraint that another row broke. */
async function orEmailTaken<T>(writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    const { code, constraint } = error as { readonly code?: unknown; readonly constraint?: unknown };
    if (code === '23505' && constraint === 'accounts_email_key') throw new EmailTakenError();
    throw error;
  }
}
