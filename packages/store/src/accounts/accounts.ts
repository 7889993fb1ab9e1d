/** Accounts, with what a sign-in is checked against. */
import type { Insertable, Selectable, Updateable } from 'kysely';
import { sql } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import { advisoryLocks } from '../database/locks.ts';
import type { Accounts } from '../database/tables.ts';

export type AccountRow = Selectable<Accounts>;

export type MemberRow = AccountRow & { readonly agents: number };

/** Thrown when another account has the e-mail. */
export class EmailTakenError extends Error {}

export const findAccount = (db: Queries, id: string): Promise<AccountRow | undefined> =>
  db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst();

/** `isKnownAddress`: the account has signed in from `address` before. */
export const accountByEmail = (
  db: Queries,
  email: string,
  address: string,
): Promise<(AccountRow & { readonly isKnownAddress: boolean }) | undefined> =>
  db
    .selectFrom('accounts')
    .selectAll()
    .select(
      sql<boolean>`exists (
        select from known_addresses k where k.account_id = accounts.id and k.address = ${address}
      )`.as('isKnownAddress'),
    )
    .where('email', '=', email)
    .executeTakeFirst();

/** Locks the account until the transaction ends, so the values read stay true. */
export const lockAccount = (trx: Transaction, id: string): Promise<AccountRow | undefined> =>
  trx.selectFrom('accounts').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst();

/** Returns the accounts that may invite, oldest first. */
export const ownersOf = (db: Queries): Promise<readonly AccountRow[]> =>
  db.selectFrom('accounts').selectAll().where('role', '=', 'owner').orderBy('createdAt').orderBy('id').execute();

export const membersOf = (db: Queries): Promise<readonly MemberRow[]> =>
  db
    .selectFrom('accounts')
    .selectAll()
    .select(
      sql<number>`(
        select count(*)::int from agents where agents.account_id = accounts.id and agents.deleted_at is null
      )`.as('agents'),
    )
    .orderBy('createdAt')
    .orderBy('id')
    .limit(1000)
    .execute();

export async function countAccounts(db: Queries): Promise<number> {
  const { n } = await db
    .selectFrom('accounts')
    .select(({ fn }) => fn.countAll<string>().as('n'))
    .executeTakeFirstOrThrow();
  return Number(n);
}

/** Whether there is an account. Under the lock of its first, which nobody else makes meanwhile. */
export async function lockFirstAccount(trx: Transaction): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks.firstAccount})`.execute(trx);
  return (await trx.selectFrom('accounts').select('id').limit(1).executeTakeFirst()) !== undefined;
}

/** Throws `EmailTakenError`. */
export const insertAccount = (trx: Transaction, account: Insertable<Accounts>): Promise<AccountRow> =>
  orEmailTaken(trx.insertInto('accounts').values(account).returningAll().executeTakeFirstOrThrow());

/** Throws `EmailTakenError`. */
export const updateAccount = (trx: Transaction, id: string, change: Updateable<Accounts>): Promise<AccountRow> =>
  orEmailTaken(trx.updateTable('accounts').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow());

/** False when the code of this time step, or of a later one, was used already. */
export async function useTotpStep(trx: Transaction, id: string, step: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('accounts')
    .set({ totpLastStep: step })
    .where('id', '=', id)
    .where((eb) => eb.or([eb('totpLastStep', 'is', null), eb('totpLastStep', '<', String(step))]))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Replaces all recovery codes. */
export async function setRecoveryCodes(
  trx: Transaction,
  accountId: string,
  hashes: readonly Uint8Array[],
): Promise<void> {
  await trx.deleteFrom('recoveryCodes').where('accountId', '=', accountId).execute();
  if (hashes.length === 0) return;
  await trx
    .insertInto('recoveryCodes')
    .values(hashes.map((hash) => ({ accountId, hash })))
    .execute();
}

/** False when the account has no such code, or it was used. */
export async function useRecoveryCode(trx: Transaction, accountId: string, hash: Uint8Array): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('recoveryCodes')
    .where('accountId', '=', accountId)
    .where('hash', '=', hash)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Remembers the addresses that the account signed in from, `most` of them. */
export async function rememberAddress(
  trx: Transaction,
  accountId: string,
  address: string,
  most: number,
): Promise<void> {
  await trx
    .insertInto('knownAddresses')
    .values({ accountId, address })
    .onConflict((conflict) => conflict.columns(['accountId', 'address']).doUpdateSet({ lastAt: sql<Date>`now()` }))
    .execute();
  await sql`
    delete from known_addresses where account_id = ${accountId} and address in (
      select address from known_addresses where account_id = ${accountId} order by last_at desc offset ${most}
    )
  `.execute(trx);
}

/** Translates a broken constraint, which Postgres names. */
async function orEmailTaken<T>(writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    const { code, constraint } = error as { readonly code?: unknown; readonly constraint?: unknown };
    if (code === '23505' && constraint === 'accounts_email_key') {
      throw new EmailTakenError('another account has this e-mail');
    }
    throw error;
  }
}
