import { deviceBounds, networkOf } from '@lodge/domain';
import type { Scope } from '@lodge/domain';
import type { DevicePoll, DeviceRow, NewDevice } from '@lodge/ports';
import { sql } from 'kysely';
import type { Kysely, Selectable } from 'kysely';
import { advisoryLocks } from '../../database/locks.ts';
import type { Schema } from '../../database/schema.ts';

type Db = Kysely<Schema>;

const columns = ['id', 'client_name', 'scopes', 'address', 'created_at', 'expires_at'] as const;
/** A machine that asks after its time is told so for this long. */
const keptSeconds = 3_600;
const seconds = (count: number) => sql<Date>`clock_timestamp() + ${count} * interval '1 second'`;
const waits = sql<boolean>`(account_id is null and expires_at > clock_timestamp())`;

/** Counts under a lock, so that requests which come together do not pass the bounds. */
export function createDevice(
  db: Db,
  device: NewDevice,
): Promise<{ readonly expiresAt: Date } | 'too_many' | 'code_taken'> {
  return db.transaction().execute(async (locked) => {
    await sql`select pg_advisory_xact_lock(${advisoryLocks.oauthDevices})`.execute(locked);
    await pruneDevices(locked, 100);
    const network = networkOf(device.address);
    const counted = await locked
      .selectFrom('oauth_devices')
      .select(({ fn }) => fn.countAll<string>().as('all'))
      .select(sql<string>`count(*) filter (where network = ${network})`.as('own'))
      .where(waits)
      .executeTakeFirstOrThrow();
    if (Number(counted.own) >= deviceBounds.maxPendingOfNetwork || Number(counted.all) >= deviceBounds.maxPending) {
      return 'too_many';
    }
    const row = await locked
      .insertInto('oauth_devices')
      .values({
        device_hash: device.deviceHash,
        user_code: device.userCode,
        client_name: device.clientName,
        scopes: device.scopes,
        address: device.address,
        network,
        expires_at: seconds(deviceBounds.lifetimeSeconds),
        interval_seconds: deviceBounds.intervalSeconds,
      })
      .onConflict((conflict) => conflict.column('user_code').doNothing())
      .returning('expires_at')
      .executeTakeFirst();
    return row === undefined ? 'code_taken' : { expiresAt: row.expires_at };
  });
}

export async function findDevice(db: Db, userCode: string): Promise<DeviceRow | null> {
  const row = await db
    .selectFrom('oauth_devices')
    .select(columns)
    .where('user_code', '=', userCode)
    .where(waits)
    .executeTakeFirst();
  return row === undefined ? null : toDeviceRow(row);
}

export async function pollDevice(db: Db, deviceHash: Uint8Array): Promise<DevicePoll> {
  // A second of grace: a network that hurries one answer along is no impatience.
  const soon = sql<boolean>`polled_at > clock_timestamp() - (interval_seconds - 1) * interval '1 second'`;
  const row = await db
    .with('before', (cte) =>
      cte
        .selectFrom('oauth_devices')
        .select('id')
        .select(sql<boolean>`coalesce(${soon}, false)`.as('too_soon'))
        .where('device_hash', '=', deviceHash)
        .forNoKeyUpdate(),
    )
    .updateTable('oauth_devices as d')
    .from('before')
    .set({
      polled_at: sql<Date>`clock_timestamp()`,
      interval_seconds: sql<number>`case when before.too_soon
        then least(d.interval_seconds + ${deviceBounds.intervalSeconds}::int, ${deviceBounds.maxIntervalSeconds}::int)
        else d.interval_seconds end`,
    })
    .whereRef('d.id', '=', 'before.id')
    .returning(['d.client_name', 'd.account_id', 'd.granted', 'before.too_soon'])
    .returning(sql<boolean>`d.expires_at <= clock_timestamp()`.as('expired'))
    .executeTakeFirst();
  if (row === undefined) return { state: 'unknown' };
  if (row.account_id !== null && row.granted !== null) {
    if (row.granted.length === 0) return { state: 'denied' };
    if (!row.expired) {
      return { state: 'approved', accountId: row.account_id, clientName: row.client_name, scopes: row.granted };
    }
  }
  if (row.expired) return { state: 'expired' };
  return { state: row.too_soon ? 'slow_down' : 'pending' };
}

export async function decideDevice(
  trx: Db,
  userCode: string,
  accountId: string,
  granted: readonly Scope[],
): Promise<DeviceRow | null> {
  const row = await trx
    .updateTable('oauth_devices')
    .set({ account_id: accountId, granted: [...granted] })
    .where('user_code', '=', userCode)
    .where(waits)
    .returning(columns)
    .executeTakeFirst();
  return row === undefined ? null : toDeviceRow(row);
}

export async function takeDevice(trx: Db, deviceHash: Uint8Array): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('oauth_devices')
    .where('device_hash', '=', deviceHash)
    .where('account_id', 'is not', null)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function pruneDevices(db: Db, limit: number): Promise<void> {
  await sql`
    delete from oauth_devices where id in (
      select id from oauth_devices where expires_at < now() - ${keptSeconds} * interval '1 second'
      order by expires_at limit ${limit} for update skip locked
    )
  `.execute(db);
}

function toDeviceRow(row: Pick<Selectable<Schema['oauth_devices']>, (typeof columns)[number]>): DeviceRow {
  return {
    id: row.id,
    clientName: row.client_name,
    scopes: row.scopes,
    address: row.address,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
