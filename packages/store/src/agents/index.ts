export { countAgents, holders, sizesHeld } from './agent-capacity.ts';
export type { AgentRow } from './agent-row.ts';
export * from './agent-visits.ts';
export type { AgentStore } from './agents.ts';
export type * from './facts.ts';
export * from './lock.ts';
export * from './published-ports.ts';
export { existingAgents } from './selecting.ts';
export type { AgentList } from './selecting.ts';
