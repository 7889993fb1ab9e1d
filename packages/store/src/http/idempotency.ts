import { randomUUID } from 'node:crypto';
import type { Claim, ClaimOutcome, IdempotencyStore, IdempotentRequest, StoredReply } from '@lodge/ports';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Database, Queries, Transaction } from '../database/database.ts';
import type { IdempotencyKeys } from '../database/tables.ts';
import { inMs } from '../work/leases.ts';
import { keptFor, pruneReplies, usualReplyBounds } from './replies.ts';
import type { ReplyBounds } from './replies.ts';

export function idempotencyIn(database: Database, given: Partial<ReplyBounds> = {}): IdempotencyStore {
  const bounds = { ...usualReplyBounds, ...given };
  return {
    claim(request, leaseMs) {
      const attempt = randomUUID();
      return database.repeatable((db) => claimKey(db, request, { attempt, leaseMs, items: bounds.items }));
    },
    renew: (claims, leaseMs) => database.repeatable((db) => renewClaims(db, claims, leaseMs)),
    complete: (claim, reply) => database.repeatable((db) => completeClaim(db, claim, reply, bounds.bytes)),
    abandon: (claim) => database.repeatable((db) => abandonClaim(db, claim)),
    prune: () => database.repeatable((db) => pruneReplies(db, bounds)),
  };
}

interface Attempt extends Pick<ReplyBounds, 'items'> {
  readonly attempt: string;
  readonly leaseMs: number;
}

/** It decides in one statement, because every request with a key waits for it. */
async function claimKey(
  db: Queries,
  { accountId, key, fingerprint, agentId }: IdempotentRequest,
  { attempt, leaseMs, items }: Attempt,
): Promise<ClaimOutcome> {
  // The row is made anew when its day is over, and taken over when nobody carries it out. The row's lock serialises
  // simultaneous claims over all processes.
  const { rows } = await sql<Pick<Claim, 'agentId' | 'effective'>>`
    insert into idempotency_keys as k (account_id, key, fingerprint, agent_id, attempt, lease_until, created_at)
    select ${accountId}, ${key}, ${fingerprint}, ${agentId}, ${attempt}, ${inMs(leaseMs)}, clock_timestamp()
    where ${stored(accountId, 'items')} < ${items}
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
  if (rows[0]) return { kind: 'claimed', claim: { accountId, key, attempt, ...rows[0] } };
  const present = await db
    .selectFrom('idempotencyKeys')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('key', '=', key)
    .executeTakeFirst();
  if (present === undefined && (await storedItems(db, accountId)) >= items) return { kind: 'full' };
  return outcomeOf(present, fingerprint);
}

async function storedItems(db: Queries, accountId: string): Promise<number> {
  const { rows } = await sql<{ items: string }>`select ${stored(accountId, 'items')} as items`.execute(db);
  return Number(rows[0]!.items);
}

function outcomeOf(row: Selectable<IdempotencyKeys> | undefined, fingerprint: Buffer): ClaimOutcome {
  // The row was pruned between the two statements, so the client tries again.
  if (row === undefined) return { kind: 'in_progress' };
  if (!fingerprint.equals(row.fingerprint)) return { kind: 'reused' };
  if (row.doneAt === null) return { kind: 'in_progress' };
  const { status, headers, body } = row;
  if (status === null) return { kind: 'not_kept' };
  return { kind: 'replay', reply: { status, headers: headers as Record<string, string>, body: body! } };
}

async function renewClaims(db: Queries, claims: readonly Claim[], leaseMs: number): Promise<void> {
  const attempts = claims.map(({ attempt }) => attempt);
  const accounts = [...new Set(claims.map(({ accountId }) => accountId))];
  const keys = [...new Set(claims.map(({ key }) => key))];
  await db
    .updateTable('idempotencyKeys')
    .set({ leaseUntil: inMs(leaseMs) })
    .where('accountId', 'in', accounts)
    .where('key', 'in', keys)
    .where('attempt', 'in', attempts)
    .where('doneAt', 'is', null)
    .execute();
}

async function completeClaim(db: Queries, claim: Claim, reply: StoredReply | null, maxBytes: number): Promise<void> {
  const { accountId } = claim;
  const { status = null, headers = null, body = null } = reply ?? {};
  const kept = sql`${status}::int, ${headers && JSON.stringify(headers)}::jsonb, ${body}::text`;
  const bytes = Buffer.byteLength(body ?? '');
  const isRefusal = status !== null && status >= 400 && status < 500;
  const hasRoom = sql`${stored(accountId, 'bytes')} + ${bytes} <= ${maxBytes}`;
  // A reply without room is not stored; the fact that its request was carried out is. A refused request may come again.
  const { numAffectedRows } = await sql`
    update idempotency_keys set done_at = clock_timestamp(), (status, headers, body) = (select ${kept} where ${hasRoom})
    where account_id = ${accountId} and key = ${claim.key} and attempt = ${claim.attempt}
      and (not ${isRefusal}::boolean or ${hasRoom})
  `.execute(db);
  if (isRefusal && numAffectedRows === 0n) await abandonClaim(db, claim);
}

async function abandonClaim(db: Queries, { accountId, key, attempt }: Claim): Promise<void> {
  await db
    .updateTable('idempotencyKeys')
    .set({ leaseUntil: sql<Date>`clock_timestamp()` })
    .where('accountId', '=', accountId)
    .where('key', '=', key)
    .where('attempt', '=', attempt)
    .execute();
}

/** The count that the triggers maintain. */
const stored = (accountId: string, what: 'items' | 'bytes') => sql<string>`coalesce((
  select ${sql.ref(`s.${what}`)} from stored_bytes s
  where s.account_id = ${accountId} and s.kind = 'replies' and s.agent_id = ''
), 0)`;

/** A condition on the row `k`. A request being carried out is not over, however long it takes. */
const isOver = sql<boolean>`(k.created_at < clock_timestamp() - ${keptFor} and k.lease_until <= clock_timestamp())`;

/** Records that the request with this key took effect, in the transaction of the effect. */
export async function markEffective(trx: Transaction, accountId: string, key: string): Promise<void> {
  await sql`update idempotency_keys set effective = true where account_id = ${accountId} and key = ${key}`.execute(trx);
}
