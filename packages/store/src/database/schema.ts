import type {
  AgentStatus,
  EgressRules,
  Lifecycle,
  OperationCause,
  RuntimeKind,
  SizeName,
  SpendLimit,
  SpendPeriod,
  StatusReasonCode,
  Verb,
} from '@lodge/domain';
import type { AgentMember, LlmApi, LlmCall } from '@lodge/ports';
import type { ColumnType, Generated } from 'kysely';
import type { ChannelTables } from '../channels/tables.ts';
import type { WorkTables } from '../work/tables.ts';

/** The tables as the migrations leave them. */
export interface Schema extends ChannelTables, WorkTables {
  accounts: { id: string; record_llm_calls: boolean };
  agents: AgentsTable;
  llm_keys: LlmKeysTable;
  llm_calls: LlmCallsTable;
  llm_calls_open: LlmCallsOpenTable;
  llm_call_contents: LlmCallContentsTable;
  agent_holds: AgentHoldsTable;
  agent_ports: { agent_id: string; port: number; public: boolean; created_at: Generated<Date> };
  agent_visits: AgentVisitsTable;
  rate_buckets: { subject: string; tokens: number; granted: number; at: Date };
  rate_places: { id: Generated<string>; subject: string; until: Date };
  idempotency_keys: IdempotencyKeysTable;
  spend_windows: SpendWindowsTable;
  stored_bytes: StoredBytesTable;
}

/** Rows that triggers maintain. */
interface StoredBytesTable {
  account_id: string;
  kind: 'replies' | 'contents';
  /** The agent's id; empty for no agent. */
  agent_id: string;
  /** int8, which comes as text. */
  items: string;
  bytes: string;
}

interface SpendWindowsTable {
  scope: 'agent' | 'account';
  id: string;
  period: SpendPeriod;
  starts: Date;
  spent_usd: string;
  warned_for: string | null;
  reached_for: string | null;
}

interface IdempotencyKeysTable {
  account_id: string;
  key: string;
  fingerprint: Uint8Array;
  agent_id: string;
  attempt: string;
  lease_until: Date;
  effective: Generated<boolean>;
  done_at: Generated<Date | null>;
  status: Generated<number | null>;
  headers: ColumnType<unknown, string | null, string | null>;
  body: Generated<string | null>;
  created_at: Date;
}

/** A member from JSON, which has no dates. */
export type MemberJson = Omit<AgentMember, 'createdAt'> & { readonly createdAt: string };

export interface AgentsTable {
  id: string;
  account_id: string;
  name: string;
  description: string | null;
  runtime_kind: RuntimeKind;
  model: string;
  size: SizeName;
  idle_timeout_seconds: number;
  stop_after_seconds: number;
  keep_awake: Lifecycle['keepAwake'];
  auto_resume: boolean;
  auto_start: boolean;
  wake_on_message: boolean;
  /** Indexed for lists. */
  labels: ColumnType<Record<string, string>, string | undefined, string>;
  metadata: ColumnType<Record<string, string>, string, string>;
  instructions: Generated<string | null>;
  dashboard: Generated<boolean>;
  spend_limit: ColumnType<SpendLimit | null, string | null | undefined, string | null>;
  egress: ColumnType<EgressRules, string | undefined, string>;
  models: ColumnType<readonly string[] | null, readonly string[] | null | undefined, readonly string[] | null>;
  peers: ColumnType<readonly string[], readonly string[] | undefined, readonly string[]>;
  members: ColumnType<readonly MemberJson[], string | undefined, string>;
  settings_applied: Generated<string | null>;
  egress_version: Generated<number>;
  egress_applied: Generated<number>;
  created_at: Date;
  updated_at: Date;
  deleted_at: Generated<Date | null>;
  desired: Generated<'running' | 'deleted'>;
  generation: Generated<number>;
  status: Generated<AgentStatus>;
  status_reason_code: Generated<StatusReasonCode | null>;
  status_reason_message: Generated<string | null>;
  status_reason_at: Generated<Date | null>;
  execution_id: Generated<string | null>;
  template_id: Generated<string | null>;
  runtime_version: Generated<string | null>;
  vm_address: Generated<string | null>;
  acknowledged: Generated<boolean>;
  started_at: Generated<Date | null>;
  last_active_at: Generated<Date | null>;
  crashes: ColumnType<Date[], readonly Date[] | undefined, readonly Date[]>;
  lease_holder: Generated<string | null>;
  lease_until: Generated<Date | null>;
  operation_kind: Generated<Verb | null>;
  operation_cause: Generated<OperationCause | null>;
  operation_started_at: Generated<Date | null>;
  host: Generated<string | null>;
  machine_vcpus: Generated<number | null>;
  machine_memory_mib: Generated<number | null>;
  machine_disk_gib: Generated<number | null>;
  paused_at: Generated<Date | null>;
  stopped_at: Generated<Date | null>;
}

interface AgentHoldsTable {
  agent_id: string;
  holder: string;
  until: Date;
}

interface AgentVisitsTable {
  id: Generated<string>;
  account_id: string;
  key_id: string | null;
  session_id: string | null;
  agent_id: string;
  port: number | null;
  path: string;
  visit_seconds: number;
  hash: Uint8Array;
  created_at: Generated<Date>;
  opened_at: Generated<Date | null>;
  expires_at: Date;
}

interface LlmKeysTable {
  agent_id: string;
  provider: string;
  sealed: string;
  last4: string;
  created_at: Generated<Date>;
}

type LlmCallColumns = Pick<LlmCall, 'provider' | 'model' | 'outcome' | 'status'> & {
  id: string;
  agent_id: string;
  account_id: string;
  started_at: Date;
};

/** Counts are int8, which comes as text. */
type Count = ColumnType<string | null, number | null | undefined, never>;

interface LlmCallsTable extends LlmCallColumns {
  duration_ms: Count;
  first_byte_ms: Count;
  input_tokens: Count;
  output_tokens: Count;
  cache_read_tokens: Count;
  cache_write_tokens: Count;
  cache_write_long_tokens: Count;
  reasoning_tokens: Count;
  image_tokens: Count;
  api: LlmApi | null;
  estimated: boolean;
  /** Decimal as text, because a JavaScript number would round it. */
  cost_usd: string | null;
  price_version: string | null;
  summed: Generated<boolean>;
}

interface LlmCallsOpenTable extends Omit<LlmCallColumns, 'outcome' | 'status'> {
  holder: string;
  api: LlmApi;
  opened_at: Generated<Date>;
  input_tokens: ColumnType<string, number, never>;
  output_tokens: ColumnType<string, number, never>;
  cost_usd: string | null;
}

interface LlmCallContentsTable {
  call_id: string;
  agent_id: string;
  ended_at: Generated<Date>;
  truncated: boolean;
  sealed: string;
}
