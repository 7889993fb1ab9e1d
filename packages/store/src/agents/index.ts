export {
  countTurn,
  endKeepAwake,
  evictableAgents,
  idleAgents,
  prolongKeepAwake,
  returnTurnNote,
  takeKeepAwake,
  takeTurnNote,
} from './agent-activity.ts';
export { countAgents, holders, othersRunning, pausedAgents, readCommitted } from './agent-capacity.ts';
export { beginOfAgent, deleteKeys, factsOfAgent, insertKeys, markDeleted, writeAgent } from './agent-decisions.ts';
export type { AgentRow } from './agent-row.ts';
export { hideAgent, writeFacts, writeTransition } from './agent-transitions.ts';
export type { Transited } from './agent-transitions.ts';
export * from './agent-visits.ts';
export { agentNames, holdCreates, insertAgent } from './agents.ts';
export type * from './facts.ts';
export * from './lock.ts';
export * from './published-ports.ts';
export {
  agentPage,
  allAgents,
  existingAgents,
  findAgent,
  findOwnAgent,
  presentAgents,
  selectAgent,
  waitingImports,
} from './selecting.ts';
export type { AgentList } from './selecting.ts';
export { leaseAgent, leaseOf, releaseAgent } from './vm-lease.ts';
