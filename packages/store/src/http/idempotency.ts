import { randomUUID } from 'node:crypto';
import type { Claim, ClaimOutcome, IdempotencyStore, IdempotentRequest, StoredReply } from '@lodge/ports';
import { sql } from 'kysely';
import type { QueryExecutorProvider, Kysely } from 'kysely';
import type { Database } from '../database/connection.ts';
import type { Schema } from '../database/schema.ts';
import { keptFor, pruneReplies, usualReplyBounds } from './replies.ts';
import type { ReplyBounds } from './replies.ts';

/** `IdempotencyStore` in Postgres. */
export class PostgresIdempotencyStore implements IdempotencyStore {
  private readonly database: Database;
  private readonly bounds: ReplyBounds;

  constructor(database: Database, bounds: Partial<ReplyBounds> = {}) {
    this.database = database;
    this.bounds = { ...usualReplyBounds, ...bounds };
  }

  claim({ accountId, key, fingerprint, agentId }: IdempotentRequest, leaseMs: number): Promise<ClaimOutcome> {
    const attempt = randomUUID();
    const until = leaseEnd(leaseMs);
    return this.database.repeatable(async (db) => {
      // The row is made anew when its day is over, and taken over when nobody carries it out. The row's lock serialises
      // simultaneous claims over all processes.
      const { rows } = await sql<{ agent_id: string; effective: boolean }>`
        insert into idempotency_keys as k (account_id, key, fingerprint, agent_id, attempt, lease_until, created_at)
        select ${accountId}, ${key}, ${fingerprint}, ${agentId}, ${attempt}, ${until}, clock_timestamp()
        where ${stored(accountId, 'items')} < ${this.bounds.items}
          or exists (select from idempotency_keys where account_id = ${accountId} and key = ${key})
        on conflict (account_id, key) do update set
          attempt = excluded.attempt,
          lease_until = excluded.lease_until,
          fingerprint = excluded.fingerprint,
          agent_id = case when ${isOver} then excluded.agent_id else k.agent_id end,
          effective = case when ${isOver} then false else k.effective end,
          created_at = case when ${isOver} then excluded.created_at else k.created_at end,
          done_at = null, status = null, headers = null, body = null
        where ${isOver} or (k.fingerprint = excluded.fingerprint and k.done_at is null
          and (k.lease_until <= clock_timestamp() or k.attempt = excluded.attempt))
        returning agent_id, effective
      `.execute(db);
      const [row] = rows;
      if (row) {
        const claim: Claim = { accountId, key, attempt, agentId: row.agent_id, effective: row.effective };
        return { kind: 'claimed', claim };
      }
      const present = await db
        .selectFrom('idempotency_keys')
        .selectAll()
        .where('account_id', '=', accountId)
        .where('key', '=', key)
        .executeTakeFirst();
      if (present === undefined && (await this.isFull(db, accountId))) return { kind: 'full' };
      return outcomeOf(present, fingerprint);
    });
  }

  private async isFull(db: Kysely<Schema>, accountId: string): Promise<boolean> {
    const { rows } = await sql<{ items: string }>`select ${stored(accountId, 'items')} as items`.execute(db);
    return Number(rows[0]!.items) >= this.bounds.items;
  }

  async renew(claims: readonly Claim[], leaseMs: number): Promise<void> {
    const attempts = claims.map(({ attempt }) => attempt);
    const accounts = [...new Set(claims.map(({ accountId }) => accountId))];
    const keys = [...new Set(claims.map(({ key }) => key))];
    await this.database.repeatable((db) =>
      db
        .updateTable('idempotency_keys')
        .set({ lease_until: leaseEnd(leaseMs) })
        .where('account_id', 'in', accounts)
        .where('key', 'in', keys)
        .where('attempt', 'in', attempts)
        .where('done_at', 'is', null)
        .execute(),
    );
  }

  async complete(claim: Claim, reply: StoredReply | null): Promise<void> {
    const { accountId } = claim;
    const { status = null, headers = null, body = null } = reply ?? {};
    const kept = sql`${status}::int, ${headers && JSON.stringify(headers)}::jsonb, ${body}::text`;
    const bytes = Buffer.byteLength(body ?? '');
    const isRefusal = status !== null && status >= 400 && status < 500;
    const hasRoom = sql`${stored(accountId, 'bytes')} + ${bytes} <= ${this.bounds.bytes}`;
    // A reply without room is not stored; the fact that its request was carried out is. A refused request may come again.
    const { numAffectedRows } = await this.database.repeatable((db) =>
      sql`
        update idempotency_keys set done_at = clock_timestamp(), (status, headers, body) = (select ${kept} where ${hasRoom})
        where account_id = ${accountId} and key = ${claim.key} and attempt = ${claim.attempt}
          and (not ${isRefusal}::boolean or ${hasRoom})
      `.execute(db),
    );
    if (isRefusal && numAffectedRows === 0n) await this.abandon(claim);
  }

  async abandon(claim: Claim): Promise<void> {
    const { accountId, key, attempt } = claim;
    await this.database.repeatable((db) =>
      db
        .updateTable('idempotency_keys')
        .set({ lease_until: sql<Date>`clock_timestamp()` })
        .where('account_id', '=', accountId)
        .where('key', '=', key)
        .where('attempt', '=', attempt)
        .execute(),
    );
  }

  prune(): Promise<void> {
    return pruneReplies(this.database, this.bounds);
  }
}

/** The count that the triggers maintain. */
const stored = (accountId: string, what: 'items' | 'bytes') => sql<string>`coalesce((
  select ${sql.ref(`s.${what}`)} from stored_bytes s
  where s.account_id = ${accountId} and s.kind = 'replies' and s.agent_id = ''
), 0)`;

const leaseEnd = (ms: number) => sql<Date>`clock_timestamp() + ${ms}::float8 * interval '1 millisecond'`;
/** A condition on the row `k`. A request being carried out is not over, however long it takes. */
const isOver = sql<boolean>`(k.created_at < clock_timestamp() - ${keptFor} and k.lease_until <= clock_timestamp())`;

interface Row {
  readonly fingerprint: Uint8Array;
  readonly status: number | null;
  readonly done_at: Date | null;
  readonly headers: unknown;
  readonly body: string | null;
}

function outcomeOf(row: Row | undefined, fingerprint: Buffer): ClaimOutcome {
  // The row was pruned between the two statements, so the client tries again.
  if (row === undefined) return { kind: 'in_progress' };
  if (!fingerprint.equals(row.fingerprint)) return { kind: 'reused' };
  if (row.done_at === null) return { kind: 'in_progress' };
  const { status, headers, body } = row;
  if (status === null) return { kind: 'not_kept' };
  return { kind: 'replay', reply: { status, headers: headers as Record<string, string>, body: body! } };
}

/** Records that the request with this key took effect, in the transaction of the effect. */
export async function markEffective(trx: QueryExecutorProvider, accountId: string, key: string): Promise<void> {
  await sql`update idempotency_keys set effective = true where account_id = ${accountId} and key = ${key}`.execute(trx);
}
