import type { LlmCall } from '@lodge/contract';
import type { LlmCallRow } from '@lodge/ports';

export function callRecord(row: LlmCallRow): LlmCall {
  return {
    object: 'llm_call',
    id: row.id,
    started_at: row.startedAt.toISOString(),
    provider: row.provider,
    model: row.model,
    api: row.api,
    outcome: row.outcome,
    status: row.status,
    duration_ms: row.durationMs,
    time_to_first_byte_ms: row.timeToFirstByteMs,
    input_tokens: row.inputTokens,
    output_tokens: row.outputTokens,
    cache_read_tokens: row.cacheReadTokens,
    cache_write_tokens: row.cacheWriteTokens,
    reasoning_tokens: row.reasoningTokens,
    estimated: row.estimated,
    cost: row.costUsd,
    price_version: row.priceVersion,
  };
}
