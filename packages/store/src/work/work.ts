/**
 * The queue of work. A row waits or is under way; its end deletes it, and is written into the table of its kind in the same
 * transaction. A claim ends by the database's clock, and its number fences its writes. A claim that ends later than any can
 * is from before the clock went back, and nobody holds it.
 *
 * A transaction that locks both rows of a piece locks that of its kind first, as a removal does, whose trigger deletes work.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { inMs } from './leases.ts';
import type { WorkClaim } from './leases.ts';
import { kinds } from './kinds.ts';
import { storable } from '../channels/text.ts';
import type { WorkKind } from './tables.ts';

export interface Postponement {
  readonly afterMs: number;
  readonly reason: string;
  /** Whether the turn had begun. */
  readonly mayHaveActed: boolean;
  /** The attempt found no room for the agent. It does not bring the last one nearer. */
  readonly lackedRoom?: boolean;
}

const maxReasonChars = 1_000;

/** A sentence about an attempt or an end, as it is stored. */
export const storableReason = (reason: string): string => storable(reason, maxReasonChars);

/** Puts a piece for each row of the table `made` (id, seq, account_id, agent_id, due_at). The agent is its lane. */
export const putWork = (kind: WorkKind): RawBuilder<unknown> => sql`
  insert into work (kind, id, account_id, agent_id, lane, due_at)
  select ${kind}, id, account_id, agent_id, agent_id, due_at from made order by seq
`;

/** Joins the piece of a row `of` of the kind's table, which has none once it has ended, as `w`. */
export const joinWork = (kind: WorkKind, of: string): RawBuilder<unknown> => sql`
  left join work w on w.kind = ${kind} and w.id = ${sql.ref(of)}
`;

/** A table `locked` with the id of the piece under this claim, and a condition on a row `w` of work that it still holds. */
const lockedBy = (kind: WorkKind, { id }: WorkClaim): RawBuilder<unknown> => sql`
  locked as materialized (select id from ${sql.table(kinds[kind].table)} where id = ${id} for no key update)
`;
const isUnder = (kind: WorkKind, { claim }: WorkClaim): RawBuilder<unknown> => sql`
  w.kind = ${kind} and w.id = locked.id and w.claim = ${claim} and w.claim_until is not null
`;

/** Tables `locked` and `ended`, which has the piece and deletes it. It is empty when the claim was lost. */
export const endedWork = (kind: WorkKind, claim: WorkClaim): RawBuilder<unknown> => sql`
  ${lockedBy(kind, claim)}, ended as (delete from work w using locked where ${isUnder(kind, claim)} returning w.*)
`;

/** Tables `locked` and `postponed`, which ends a claim. It is empty when the claim was lost. */
export const postponedWork = (
  kind: WorkKind,
  claim: WorkClaim,
  { afterMs, reason, mayHaveActed, lackedRoom = false }: Postponement,
): RawBuilder<unknown> => sql`
  ${lockedBy(kind, claim)}, postponed as (
    update work w set claim_holder = null, claim_until = null, due_at = ${inMs(afterMs)}, attempt_at = null,
      may_have_acted = w.may_have_acted or ${mayHaveActed}, attempts = greatest(w.attempts - ${lackedRoom ? 1 : 0}, 1),
      reason = ${storableReason(reason)}
    from locked where ${isUnder(kind, claim)} returning w.id
  )
`;

/** Tables `locked` and `ended`, which has one piece that nobody began within `maxWaitMs`, and deletes it. It may be empty. */
export function vainWork(kind: WorkKind, maxWaitMs: number): RawBuilder<unknown> {
  const isVain = sql`
    w.kind = ${kind} and w.attempts = 0 and w.claim_holder is null
    and w.due_at < clock_timestamp() - ${maxWaitMs} * interval '1 millisecond'
  `;
  return sql`
    locked as materialized (
      select id from ${sql.table(kinds[kind].table)}
      where id = (select w.id from work w where ${isVain} order by w.due_at limit 1) for no key update
    ), ended as (delete from work w using locked where w.id = locked.id and ${isVain} returning w.*)
  `;
}
