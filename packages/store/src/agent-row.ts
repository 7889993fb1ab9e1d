import type { AgentRow, LlmKeyRow } from '@lodge/engine/ports';
import { sql } from 'kysely';
import type { Expression, RawBuilder, Selectable } from 'kysely';
import type { AgentsTable } from './schema.ts';

/** A provider key as `json_agg` gives it: JSON has no dates. */
type LlmKeyJson = Omit<LlmKeyRow, 'createdAt'> & { readonly createdAt: string };

/** The keys of the agent whose id `agentId` is, as one JSON column. */
export function llmKeysOf(agentId: Expression<string>): RawBuilder<LlmKeyJson[]> {
  return sql<LlmKeyJson[]>`(
    select coalesce(json_agg(json_build_object(
      'provider', k.provider, 'sealed', k.sealed, 'last4', k.last4, 'createdAt', k.created_at
    ) order by k.created_at, k.provider), '[]')
    from llm_keys k where k.agent_id = ${agentId}
  )`;
}

export function toAgentRow(row: Selectable<AgentsTable> & { readonly llm_keys: readonly LlmKeyJson[] }): AgentRow {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    description: row.description,
    runtimeKind: row.runtime_kind,
    model: row.model,
    size: row.size,
    lifecycle: {
      idleTimeoutSeconds: row.idle_timeout_seconds,
      stopAfterSeconds: row.stop_after_seconds,
      keepAwake: row.keep_awake,
      autoResume: row.auto_resume,
      autoStart: row.auto_start,
      wakeOnMessage: row.wake_on_message,
    },
    metadata: row.metadata,
    llmKeys: row.llm_keys.map((key) => ({ ...key, createdAt: new Date(key.createdAt) })),
    desired: row.desired,
    generation: row.generation,
    status: row.status,
    statusReason:
      row.status_reason_code === null
        ? null
        : { code: row.status_reason_code, message: row.status_reason_message!, at: row.status_reason_at! },
    executionId: row.execution_id,
    templateId: row.template_id,
    vmAddress: row.vm_address,
    acknowledged: row.acknowledged,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    startedAt: row.started_at,
    lastActiveAt: row.last_active_at,
    crashes: row.crashes,
  };
}
