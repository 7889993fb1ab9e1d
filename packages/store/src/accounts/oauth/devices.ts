/** Machines that ask for a key. */
import { deviceBounds } from '@lodge/domain';
import type { Scope } from '@lodge/domain';
import { sql } from 'kysely';
import type { Insertable, Selectable } from 'kysely';
import type { Queries, Transaction } from '../../database/database.ts';
import { advisoryLocks } from '../../database/locks.ts';
import type { OauthDevices } from '../../database/tables.ts';

export type DeviceRow = Selectable<OauthDevices>;

/** A machine that asks after its time is told so for this long. */
const keptSeconds = 3_600;
const waits = sql<boolean>`(account_id is null and expires_at > clock_timestamp())`;

/** Counts machines that wait, and those of a network. No other begins until the transaction ends. */
export async function lockDevices(
  trx: Transaction,
  network: string,
): Promise<{ readonly all: number; readonly ofNetwork: number }> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks.oauthDevices})`.execute(trx);
  await pruneDevices(trx, 100);
  return trx
    .selectFrom('oauthDevices')
    .select(sql<number>`count(*)::int`.as('all'))
    .select(sql<number>`count(*) filter (where network = ${network})::int`.as('ofNetwork'))
    .where(waits)
    .executeTakeFirstOrThrow();
}

type NewDevice = Pick<
  Insertable<OauthDevices>,
  'deviceHash' | 'userCode' | 'clientName' | 'scopes' | 'address' | 'network'
>;

/** False when another machine has the user code. */
export async function insertDevice(trx: Transaction, device: NewDevice): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('oauthDevices')
    .values({
      ...device,
      expiresAt: sql<Date>`clock_timestamp() + ${deviceBounds.lifetimeSeconds} * interval '1 second'`,
      intervalSeconds: deviceBounds.intervalSeconds,
    })
    .onConflict((conflict) => conflict.column('userCode').doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Returns a machine that waits for a decision. */
export const findDevice = (db: Queries, userCode: string): Promise<DeviceRow | undefined> =>
  db.selectFrom('oauthDevices').selectAll().where('userCode', '=', userCode).where(waits).executeTakeFirst();

/** A machine that asks what became of its request. */
export interface AskingDevice extends Pick<DeviceRow, 'clientName' | 'accountId' | 'granted'> {
  readonly isTooSoon: boolean;
  readonly isExpired: boolean;
}

/** Counts a machine's question. One that comes too soon makes the wait until the next longer. */
export const askingDevice = (db: Queries, deviceHash: Uint8Array): Promise<AskingDevice | undefined> => {
  // A second of grace: a network that hurries one answer along is no impatience.
  const soon = sql<boolean>`polled_at > clock_timestamp() - (interval_seconds - 1) * interval '1 second'`;
  return db
    .with('before', (cte) =>
      cte
        .selectFrom('oauthDevices')
        .select('id')
        .select(sql<boolean>`coalesce(${soon}, false)`.as('isTooSoon'))
        .where('deviceHash', '=', deviceHash)
        .forNoKeyUpdate(),
    )
    .updateTable('oauthDevices as d')
    .from('before')
    .set({
      polledAt: sql<Date>`clock_timestamp()`,
      intervalSeconds: sql<number>`case when before.is_too_soon
        then least(d.interval_seconds + ${deviceBounds.intervalSeconds}::int, ${deviceBounds.maxIntervalSeconds}::int)
        else d.interval_seconds end`,
    })
    .whereRef('d.id', '=', 'before.id')
    .returning(['d.clientName', 'd.accountId', 'd.granted', 'before.isTooSoon'])
    .returning(sql<boolean>`d.expires_at <= clock_timestamp()`.as('isExpired'))
    .executeTakeFirst();
};

/** Writes a person's decision; no scope means that they refused. Undefined when the request waits no more. */
export const decideDevice = (
  trx: Transaction,
  userCode: string,
  accountId: string,
  granted: readonly Scope[],
): Promise<DeviceRow | undefined> =>
  trx
    .updateTable('oauthDevices')
    .set({ accountId, granted })
    .where('userCode', '=', userCode)
    .where(waits)
    .returningAll()
    .executeTakeFirst();

/** Takes an approved request away. One of two simultaneous callers gets true. */
export async function takeDevice(trx: Transaction, deviceHash: Uint8Array): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('oauthDevices')
    .where('deviceHash', '=', deviceHash)
    .where('accountId', 'is not', null)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function pruneDevices(db: Queries, limit: number): Promise<void> {
  await sql`
    delete from oauth_devices where id in (
      select id from oauth_devices where expires_at < now() - ${keptSeconds} * interval '1 second'
      order by expires_at limit ${limit} for update skip locked
    )
  `.execute(db);
}
