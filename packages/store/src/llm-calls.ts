import type { LlmCallPosition, LlmCallRow } from '@lodge/engine/ports';
import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';

/** Finished calls of an agent, newest first. */
export async function listCalls(
  db: Kysely<Schema>,
  agentId: string,
  limit: number,
  after: LlmCallPosition | null,
): Promise<readonly LlmCallRow[]> {
  const rows = await db
    .selectFrom('llm_calls')
    .selectAll()
    .where('agent_id', '=', agentId)
    .$if(after !== null, (query) =>
      query.where((eb) => eb(eb.refTuple('started_at', 'id'), '<', eb.tuple(after!.startedAt, after!.id))),
    )
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  const number = (value: string | number | null): number | null => (value === null ? null : Number(value));
  return rows.map((row) => ({
    id: row.id,
    agentId: row.agent_id,
    accountId: row.account_id,
    provider: row.provider,
    model: row.model,
    api: row.api,
    startedAt: row.started_at,
    durationMs: number(row.duration_ms),
    timeToFirstByteMs: number(row.first_byte_ms),
    status: row.status,
    outcome: row.outcome,
    inputTokens: number(row.input_tokens),
    outputTokens: number(row.output_tokens),
    cacheReadTokens: number(row.cache_read_tokens),
    cacheWriteTokens: number(row.cache_write_tokens),
    cacheWriteLongTokens: number(row.cache_write_long_tokens),
    reasoningTokens: number(row.reasoning_tokens),
    imageTokens: number(row.image_tokens),
    estimated: row.estimated,
    costUsd: row.cost_usd,
    priceVersion: row.price_version,
  }));
}
