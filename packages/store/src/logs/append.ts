import { maxLogMessage } from '@lodge/ports';
import type { AgentLogWriter, LogLevel, LogSource, NewLogEntry } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Database, Queries, Transaction } from '../database/database.ts';

/** Codes of levels and sources in the table: a number sorts by weight, and is short. */
export const levelCodes: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };
export const sourceCodes: Readonly<Record<LogSource, number>> = {
  system: 0,
  console: 1,
  gateway: 2,
  channel: 3,
  egress: 4,
};
export const levelOf = reversed(levelCodes);
export const sourceOf = reversed(sourceCodes);

/** Appends entries in one statement. */
export async function appendLog(trx: Transaction, agentId: string, entries: readonly NewLogEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await sql`with ${logLines(agentId, entries)} select pg_notify('agent_log_changed', ${agentId})`.execute(trx);
}

export const logWriter = (database: Database): AgentLogWriter => ({
  append: (agentId, entries) => database.transaction((trx) => appendLog(trx, agentId, entries)),
});

/** How far the log of a source is read in the guest. With it a restart neither repeats nor skips lines. */
export interface LogPosition {
  readonly executionId: string;
  readonly offset: number;
}

export async function logPosition(db: Queries, agentId: string, source: LogSource): Promise<LogPosition | null> {
  const row = await db
    .selectFrom('agentLogPositions')
    .select(['executionId', 'offset'])
    .where('agentId', '=', agentId)
    .where('source', '=', sourceCodes[source])
    .executeTakeFirst();
  return row ? { ...row, offset: Number(row.offset) } : null;
}

/** Appends entries that were read up to the new position. */
export async function appendLogFrom(
  trx: Transaction,
  agentId: string,
  source: LogSource,
  { executionId, offset }: LogPosition,
  entries: readonly NewLogEntry[],
): Promise<void> {
  await trx
    .insertInto('agentLogPositions')
    .values({ agentId, source: sourceCodes[source], executionId, offset })
    .onConflict((on) => on.columns(['agentId', 'source']).doUpdateSet({ executionId, offset }))
    .execute();
  await appendLog(trx, agentId, entries);
}

/**
 * Returns tables of a statement that appends: `lines` has a row for each entry. The head's row, locked until the commit,
 * gives the ids, so nobody sees an id before all lower ones. An entry's time is never before the previous one's and never
 * ahead of the clock, so a range of times is a range of ids.
 */
export function logLines(agentId: string, entries: readonly NewLogEntry[]): RawBuilder<unknown> {
  const times = entries.map(({ at }) => at ?? null);
  const levels = entries.map(({ level }) => levelCodes[level]);
  const sources = entries.map(({ source }) => sourceCodes[source]);
  const messages = entries.map(({ message }) => storable(message));
  return sql`
    given as materialized (
      select n, level, source, message,
        max(least(coalesce(at, moment), moment)) over (order by n rows unbounded preceding) as at
      from unnest(${times}::timestamptz[], ${levels}::smallint[], ${sources}::smallint[], ${messages}::text[])
        with ordinality e (at, level, source, message, n),
        (select clock_timestamp() as moment offset 0) clock
    ), head as (
      insert into agent_log_heads as h (agent_id, last_id, last_at, previous_at, bytes)
      select ${agentId}, ${entries.length}::bigint, max(at), '-infinity', sum(octet_length(message)) from given
      on conflict (agent_id) do update set
        last_id = h.last_id + excluded.last_id,
        last_at = greatest(h.last_at, excluded.last_at),
        previous_at = h.last_at,
        bytes = h.bytes + excluded.bytes
      returning last_id, previous_at
    ), lines as (
      insert into agent_logs (agent_id, id, at, level, source, message)
      select ${agentId}, head.last_id - ${entries.length}::bigint + n, greatest(at, previous_at), level, source, message
      from given, head
      returning 1
    )
  `;
}

/** Returns the message without NUL and half surrogate pairs, which Postgres does not store. */
function storable(message: string): string {
  return message.replaceAll('\0', '').slice(0, maxLogMessage).toWellFormed();
}

function reversed<Name extends string>(codes: Readonly<Record<Name, number>>): readonly Name[] {
  const names: Name[] = [];
  for (const [name, code] of Object.entries<number>(codes)) names[code] = name as Name;
  return names;
}
