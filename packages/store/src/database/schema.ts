import type { SpendPeriod } from '@lodge/domain';
import type { LlmApi, LlmCall } from '@lodge/ports';
import type { ColumnType, Generated } from 'kysely';
import type { AgentHolds, Agents, LlmKeys } from './tables.ts';
import type { ChannelTables } from '../channels/tables.ts';
import type { WorkTables } from '../work/tables.ts';

/** A generated table by the names of its columns in the database. */
type SnakeCased<Table> = { [Column in keyof Table as SnakeCase<Column & string>]: Table[Column] };
type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Uppercase<First> ? (First extends Lowercase<First> ? First : `_${Lowercase<First>}`) : First}${SnakeCase<Rest>}`
  : Name;

/** The tables as the migrations leave them. */
export interface Schema extends ChannelTables, WorkTables {
  accounts: { id: string; record_llm_calls: boolean };
  agents: SnakeCased<Agents>;
  llm_keys: SnakeCased<LlmKeys>;
  llm_calls: LlmCallsTable;
  llm_calls_open: LlmCallsOpenTable;
  llm_call_contents: LlmCallContentsTable;
  agent_holds: SnakeCased<AgentHolds>;
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
