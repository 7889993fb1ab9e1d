import type { AgentRow, LlmKeyRow } from '@lodge/ports';
import { sql } from 'kysely';
import type { Expression, Kysely, RawBuilder, Selectable } from 'kysely';
import type { AgentsTable, Schema } from '../database/schema.ts';
import { channelStatusesOf } from '../channels/channel-row.ts';
import { statement } from '../database/statement.ts';
import type { InJson } from '../database/statement.ts';

/** A provider key from `json_agg`, which has no dates. */
type LlmKeyJson = Omit<LlmKeyRow, 'createdAt'> & { readonly createdAt: string };

/** Returns the keys of the agent `agentId` as one JSON column. */
export function llmKeysOf(agentId: Expression<string>): RawBuilder<LlmKeyJson[]> {
  return sql<LlmKeyJson[]>`(
    select coalesce(json_agg(json_build_object(
      'provider', k.provider, 'sealed', k.sealed, 'last4', k.last4, 'createdAt', k.created_at
    ) order by k.created_at, k.provider), '[]')
    from llm_keys k where k.agent_id = ${agentId}
  )`;
}

/** Columns of the table in an agent's row. */
const columns = [
  'id',
  'account_id',
  'name',
  'description',
  'runtime_kind',
  'model',
  'size',
  'idle_timeout_seconds',
  'stop_after_seconds',
  'keep_awake',
  'auto_resume',
  'auto_start',
  'wake_on_message',
  'labels',
  'metadata',
  'instructions',
  'dashboard',
  'spend_limit',
  'egress',
  'egress_version',
  'models',
  'peers',
  'members',
  'desired',
  'operation_kind',
  'operation_cause',
  'operation_started_at',
  'generation',
  'status',
  'status_reason_code',
  'status_reason_message',
  'status_reason_at',
  'execution_id',
  'template_id',
  'runtime_version',
  'vm_address',
  'host',
  'machine_vcpus',
  'machine_memory_mib',
  'machine_disk_gib',
  'settings_applied',
  'egress_applied',
  'acknowledged',
  'created_at',
  'updated_at',
  'started_at',
  'paused_at',
  'stopped_at',
  'last_active_at',
  'crashes',
] as const satisfies readonly (keyof AgentsTable)[];

/** An agent as `liveAgents` selects it. */
export type SelectedAgent = Pick<Selectable<AgentsTable>, (typeof columns)[number]> & {
  readonly llm_keys: readonly LlmKeyJson[];
  readonly channels: AgentRow['channels'];
};

export const now = sql<Date>`clock_timestamp()`;

export const liveAgents = (db: Kysely<Schema>) =>
  db
    .selectFrom('agents')
    .selectAll('agents')
    .select((eb) => [
      llmKeysOf(eb.ref('agents.id')).as('llm_keys'),
      channelStatusesOf(eb.ref('agents.id')).as('channels'),
    ])
    .where('deleted_at', 'is', null);

/** The agent with this id, `$1`. */
export const agentById = statement<SelectedAgent>('agent_by_id', (db) =>
  db
    .selectFrom('agents')
    .select(columns)
    .select((eb) => [
      llmKeysOf(eb.ref('agents.id')).as('llm_keys'),
      channelStatusesOf(eb.ref('agents.id')).as('channels'),
    ])
    .where('deleted_at', 'is', null)
    .where('id', '=', ''),
);

export async function selectAgent(db: Kysely<Schema>, id: string): Promise<AgentRow | null> {
  const row = await liveAgents(db).where('id', '=', id).executeTakeFirst();
  return row ? toAgentRow(row) : null;
}

export function toAgentRow(row: SelectedAgent | InJson<SelectedAgent>): AgentRow {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    description: row.description,
    runtimeKind: row.runtime_kind,
    model: row.model,
    size: row.size,
    lifecycle: lifecycleOf(row),
    labels: row.labels,
    metadata: row.metadata,
    instructions: row.instructions,
    dashboard: row.dashboard,
    spendLimit: row.spend_limit,
    egress: row.egress,
    egressVersion: row.egress_version,
    models: row.models,
    peers: row.peers,
    members: row.members.map((member) => ({ ...member, createdAt: new Date(member.createdAt) })),
    llmKeys: row.llm_keys.map((key) => ({ ...key, createdAt: new Date(key.createdAt) })),
    channels: row.channels,
    desired: row.desired,
    operation:
      row.operation_kind === null
        ? null
        : { kind: row.operation_kind, cause: row.operation_cause!, startedAt: new Date(row.operation_started_at!) },
    generation: row.generation,
    status: row.status,
    statusReason:
      row.status_reason_code === null
        ? null
        : { code: row.status_reason_code, message: row.status_reason_message!, at: new Date(row.status_reason_at!) },
    executionId: row.execution_id,
    templateId: row.template_id,
    runtimeVersion: row.runtime_version,
    vmAddress: row.vm_address,
    host: row.host,
    machine:
      row.machine_vcpus === null
        ? null
        : { vcpus: row.machine_vcpus, memoryMib: row.machine_memory_mib!, diskGib: row.machine_disk_gib! },
    settingsApplied: row.settings_applied,
    egressApplied: row.egress_applied,
    acknowledged: row.acknowledged,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
    startedAt: dateOf(row.started_at),
    pausedAt: dateOf(row.paused_at),
    stoppedAt: dateOf(row.stopped_at),
    lastActiveAt: dateOf(row.last_active_at),
    crashes: row.crashes.map((at) => new Date(at)),
  };
}

const dateOf = (at: Date | string | null): Date | null => (at === null ? null : new Date(at));

const lifecycleOf = (row: SelectedAgent | InJson<SelectedAgent>): AgentRow['lifecycle'] => ({
  idleTimeoutSeconds: row.idle_timeout_seconds,
  stopAfterSeconds: row.stop_after_seconds,
  keepAwake: row.keep_awake,
  autoResume: row.auto_resume,
  autoStart: row.auto_start,
  wakeOnMessage: row.wake_on_message,
});
