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
}
