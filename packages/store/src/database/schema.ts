import type { SnakeCased } from './snake-cased.ts';
import type { AgentHolds, Agents, LlmKeys } from './tables.ts';
import type { ChannelTables } from '../channels/tables.ts';
import type { WorkTables } from '../work/tables.ts';

/** The tables as the migrations leave them. */
export interface Schema extends ChannelTables, WorkTables {
  agents: SnakeCased<Agents>;
  llm_keys: SnakeCased<LlmKeys>;
  agent_holds: SnakeCased<AgentHolds>;
}
