/**
 * Keeps the replies of requests with an `Idempotency-Key` within their bounds, account by account, in short statements. A
 * body gives way to later ones, and its key still says that the request was carried out. The key of a refused request goes
 * too, because it changed nothing and may be sent again.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Queries } from '../database/database.ts';

export interface ReplyBounds {
  /** Keys of one account. At four fifths of them the oldest go, but never one younger than `leastMs`. */
  readonly items: number;
  /** Bodies of one account. At three quarters of them the oldest go. */
  readonly bytes: number;
  /** Shortest time for which a key is known. */
  readonly leastMs: number;
}

export const usualReplyBounds: ReplyBounds = { items: 100_000, bytes: 64 * 1024 * 1024, leastMs: 3_600_000 };

export const keptFor = sql`interval '24 hours'`;

/** Rows of one statement. Nobody waits for them. */
const rowsAtOnce = 1_000;
/** Bodies of one statement, 256 KiB each at most. */
const bodiesAtOnce = 20;

interface Full {
  readonly accountId: string;
  readonly items: number;
  readonly bytes: number;
}

/** Prunes replies. The next round continues after a kill. */
export async function pruneReplies(db: Queries, { items, bytes, leastMs }: ReplyBounds): Promise<void> {
  const { rows } = await sql<Full>`
      select account_id, items::float8 as items, bytes::float8 as bytes from stored_bytes where kind = 'replies' and items > 0
    `.execute(db);
  for (const each of rows) {
    await forget(db, each.accountId, keptFor, Infinity);
    const tooMany = Math.ceil(each.items - items * 0.8);
    const least = sql`${leastMs} * interval '1 millisecond'`;
    if (tooMany > 0) await forget(db, each.accountId, least, tooMany);
    if (each.bytes > bytes * 0.75) await dropBodies(db, each.accountId, Math.floor(bytes * 0.75));
  }
}

/** Deletes the oldest keys older than `age`, at most `most`. A request in progress keeps its key. */
async function forget(db: Queries, accountId: string, age: RawBuilder<unknown>, most: number): Promise<void> {
  for (let left = most; left > 0;) {
    const wanted = Math.min(left, rowsAtOnce);
    const { numAffectedRows } = await sql`
        delete from idempotency_keys k using (
          select account_id, key from idempotency_keys
          where account_id = ${accountId} and created_at < clock_timestamp() - ${age} and lease_until < clock_timestamp()
          order by created_at limit ${wanted} for update skip locked
        ) old
        where k.account_id = old.account_id and k.key = old.key
      `.execute(db);
    const gone = Number(numAffectedRows ?? 0n);
    if (gone < wanted) return;
    left -= gone;
  }
}

/** Empties the fewest oldest replies that leave the others within `maxBytes`. */
async function dropBodies(db: Queries, accountId: string, maxBytes: number): Promise<void> {
  const over = sql`(
    select s.bytes - ${maxBytes} from stored_bytes s where s.account_id = ${accountId} and s.kind = 'replies' and s.agent_id = ''
  )`;
  for (let dropped = bodiesAtOnce; dropped === bodiesAtOnce;) {
    const { rows } = await sql<{ dropped: number }>`
        with oldest as materialized (
          select account_id, key, status, created_at, octet_length(body) as bytes from idempotency_keys
          where account_id = ${accountId} and body is not null
          order by created_at limit ${bodiesAtOnce} for update skip locked
        ), giving_way as (
          select account_id, key, status between 400 and 499 as is_refusal
          from (select *, sum(bytes) over (order by created_at, key) - bytes as before from oldest) o where before < ${over}
        ), forgotten as (
          delete from idempotency_keys k using giving_way g
          where k.account_id = g.account_id and k.key = g.key and g.is_refusal
        ), emptied as (
          update idempotency_keys k set status = null, headers = null, body = null
          from giving_way g where k.account_id = g.account_id and k.key = g.key and not g.is_refusal
        )
        select count(*)::int as dropped from giving_way
      `.execute(db);
    dropped = rows[0]!.dropped;
  }
}
