import type { SnakeCased } from './snake-cased.ts';
import type { AgentHolds, Agents, LlmKeys } from './tables.ts';
import type { ChannelTables } from '../channels/tables.ts';

/** The tables as the migrations leave them. */
export interface Schema extends ChannelTables {
  agents: SnakeCased<Agents>;
  llm_keys: SnakeCased<LlmKeys>;
  agent_holds: SnakeCased<AgentHolds>;
}
