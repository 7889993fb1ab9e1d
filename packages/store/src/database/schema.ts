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
  agents: SnakeCased<Agents>;
  llm_keys: SnakeCased<LlmKeys>;
  agent_holds: SnakeCased<AgentHolds>;
  rate_buckets: { subject: string; tokens: number; granted: number; at: Date };
  rate_places: { id: Generated<string>; subject: string; until: Date };
  idempotency_keys: IdempotencyKeysTable;
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
