import type { EventData } from '@lodge/domain';
import type { By, EventRow } from '@lodge/ports';
import type { Selectable } from 'kysely';
import type { EventsTable } from '../database/schema.ts';
import { levelOf } from '../logs/append.ts';

export function toEventRow(row: Selectable<EventsTable>): EventRow {
  return {
    id: BigInt(row.id),
    accountId: row.account_id,
    agentId: row.agent_id,
    type: row.type,
    level: levelOf[row.level] as EventRow['level'],
    data: row.data as EventData,
    by: byOf(row),
    target: row.target_id === null ? null : { kind: row.target_kind!, id: row.target_id },
    at: row.created_at,
  };
}

function byOf({ actor_kind, actor_id, address, request_id }: Selectable<EventsTable>): By | null {
  return actor_kind === null ? null : { actor: { kind: actor_kind, id: actor_id }, address, requestId: request_id };
}
