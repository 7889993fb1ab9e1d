/** Rows of hooks and their messages, in the form of the ports. */
import type { HookMessageEnd } from '@lodge/domain';
import type { HookMessage, HookPlace, HookRow, HookSignature, NewHook } from '@lodge/ports';
import { sql } from 'kysely';
import type { Kysely, RawBuilder, Selectable } from 'kysely';
import { deliverColumns, toDelivery } from '../channels/deliver.ts';
import { storable } from '../channels/text.ts';
import type { Schema } from '../database/schema.ts';
import { joinWork } from '../work/work.ts';
import type { HooksTable } from './tables.ts';

/** Selects hooks of agents that are not being deleted. `where` is a condition on a row `h`. */
export async function selectHooks(db: Kysely<Schema>, where: RawBuilder<unknown>): Promise<readonly HookRow[]> {
  const { rows } = await sql<Selectable<HooksTable>>`
    select h.* from hooks h
    where ${where} and exists (select from agents a where a.id = h.agent_id and a.desired = 'running')
    order by h.seq
  `.execute(db);
  return rows.map(toHook);
}

export const isPlace = ({ accountId, agentId, hookId }: HookPlace): RawBuilder<unknown> => sql`
  h.id = ${storable(hookId)} and h.agent_id = ${agentId} and h.account_id = ${accountId}
`;

export const toColumns = ({ name, tokenHash, last4, template, conversation, deliver, signature }: NewHook) => ({
  name,
  token_hash: tokenHash,
  last4,
  template,
  conversation,
  ...deliverColumns(deliver),
  signature: signature?.kind ?? null,
  signature_header: signature?.own?.header ?? null,
  signature_encoding: signature?.own?.encoding ?? null,
  signature_prefix: signature?.own?.prefix ?? null,
  secret_sealed: signature?.sealed ?? null,
  secret_last4: signature?.last4 ?? null,
});

const toHook = (row: Selectable<HooksTable>): HookRow => ({
  id: row.id,
  accountId: row.account_id,
  agentId: row.agent_id,
  name: row.name,
  last4: row.last4,
  template: row.template,
  conversation: row.conversation,
  deliver: toDelivery(row),
  signature: toSignature(row),
  createdAt: row.created_at,
});

function toSignature(row: Selectable<HooksTable>): HookSignature | null {
  const { signature: kind, secret_sealed: sealed, secret_last4: last4, signature_header: header } = row;
  if (kind === null || sealed === null || last4 === null) return null;
  const own =
    header === null ? null : { header, encoding: row.signature_encoding ?? 'hex', prefix: row.signature_prefix ?? '' };
  return { kind, own, sealed, last4 };
}

interface MessageRow {
  readonly id: string;
  readonly hook_id: string;
  readonly status: HookMessageEnd | null;
  readonly is_claimed: boolean;
  readonly attempts: number;
  readonly reason: string | null;
  readonly received_at: Date;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
}

/** Selects messages. `where` is a condition on a row `m`. */
export async function selectMessages(db: Kysely<Schema>, where: RawBuilder<unknown>): Promise<readonly HookMessage[]> {
  const { rows } = await sql<MessageRow>`
    select m.id, m.hook_id, m.status, w.claim_holder is not null as is_claimed, coalesce(w.attempts, m.attempts) as attempts,
      coalesce(w.reason, m.reason) as reason, m.received_at, coalesce(w.started_at, m.started_at) as started_at, m.ended_at
    from hook_messages m ${joinWork('message', 'm.id')} where ${where}
  `.execute(db);
  return rows.map((row) => ({
    id: row.id,
    hookId: row.hook_id,
    state: row.status ?? (row.is_claimed ? 'answering' : 'received'),
    attempts: row.attempts,
    reason: row.reason,
    receivedAt: row.received_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
  }));
}
