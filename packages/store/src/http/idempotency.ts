import { randomUUID } from 'node:crypto';
import type { Claim, ClaimOutcome, IdempotencyStore, IdempotentRequest, StoredReply } from '@lodge/ports';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Database } from '../database/connection.ts';
import type { Schema } from '../database/schema.ts';

const keptFor = sql`interval '24 hours'`;
const maxPerAccount = 10_000;
const prunedAtOnce = 1_000;

/** `IdempotencyStore` in Postgres. */
export class PostgresIdempotencyStore implements IdempotencyStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  claim({ accountId, key, fingerprint, agentId }: IdempotentRequest, leaseMs: number): Promise<ClaimOutcome> {
    const attempt = randomUUID();
    const until = leaseEnd(leaseMs);
    return this.database.repeatable(async (db) => {
      // The row is made anew when its day is over, and taken over when nobody carries it out. The row's lock makes claims
      // at once one after another, over all processes.
      const { rows } = await sql<{ agent_id: string; effective: boolean }>`
        insert into idempotency_keys as k (account_id, key, fingerprint, agent_id, attempt, lease_until, created_at)
        values (${accountId}, ${key}, ${fingerprint}, ${agentId}, ${attempt}, ${until}, clock_timestamp())
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
      return outcomeOf(present, fingerprint);
    });
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
    await this.database.repeatable((db) =>
      this.own(db, claim)
        .set({
          done_at: sql<Date>`clock_timestamp()`,
          status: reply?.status ?? null,
          headers: reply === null ? null : JSON.stringify(reply.headers),
          // Postgres has no text with NUL; JSON writes it as an escape.
          body: reply?.body ?? null,
        })
        .execute(),
    );
  }

  async abandon(claim: Claim): Promise<void> {
    await this.database.repeatable((db) =>
      this.own(db, claim)
        .set({ lease_until: sql<Date>`clock_timestamp()` })
        .execute(),
    );
  }

  async prune(): Promise<void> {
    await this.database.repeatable((db) =>
      sql`delete from idempotency_keys where (account_id, key) in (
        select account_id, key from idempotency_keys where created_at < now() - ${keptFor}
          and lease_until < now() limit ${prunedAtOnce}
      )`.execute(db),
    );
    await this.database.repeatable((db) =>
      sql`delete from idempotency_keys where (account_id, key) in (
        select account_id, key from (
          select account_id, key, lease_until, row_number() over (partition by account_id order by created_at desc) as nth
          from idempotency_keys
        ) as numbered where nth > ${maxPerAccount} and lease_until < now() limit ${prunedAtOnce}
      )`.execute(db),
    );
  }

  private own(db: Kysely<Schema>, { accountId, key, attempt }: Claim) {
    return db
      .updateTable('idempotency_keys')
      .where('account_id', '=', accountId)
      .where('key', '=', key)
      .where('attempt', '=', attempt);
  }
}

const leaseEnd = (ms: number) => sql<Date>`clock_timestamp() + ${ms}::float8 * interval '1 millisecond'`;
/** Of the row `k`; one that is being carried out is not over, however long that takes. */
const isOver = sql<boolean>`(k.created_at < clock_timestamp() - ${keptFor} and k.lease_until <= clock_timestamp())`;

interface Row {
  readonly fingerprint: Uint8Array;
  readonly status: number | null;
  readonly done_at: Date | null;
  readonly headers: unknown;
  readonly body: string | null;
}

function outcomeOf(row: Row | undefined, fingerprint: Buffer): ClaimOutcome {
  // Pruned between the two statements: the client tries again.
  if (row === undefined) return { kind: 'in_progress' };
  if (!fingerprint.equals(row.fingerprint)) return { kind: 'reused' };
  if (row.done_at === null) return { kind: 'in_progress' };
  const { status, headers, body } = row;
  if (status === null) return { kind: 'not_kept' };
  return { kind: 'replay', reply: { status, headers: headers as Record<string, string>, body: body! } };
}

/** Says, in the transaction of its effect, that the request with this key has had it. */
export async function markEffective(trx: Kysely<Schema>, accountId: string, key: string): Promise<void> {
  await trx
    .updateTable('idempotency_keys')
    .set({ effective: true })
    .where('account_id', '=', accountId)
    .where('key', '=', key)
    .execute();
}
