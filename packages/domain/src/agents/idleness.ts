import type { AgentStatus, Lifecycle } from './agent.ts';
import type { Operation } from './operation.ts';

/** The facts that idleness depends on. */
export interface IdleFacts {
  readonly status: AgentStatus;
  readonly operation: Operation | null;
  readonly lifecycle: Lifecycle;
  /** Whether a keep-awake lease is in force: a request, stream, turn or LLM call of the agent is in progress. */
  readonly isKeptAwake: boolean;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly pausedAt: Date | null;
  readonly lastActiveAt: Date | null;
}

/** Returns the verb that idleness calls for now: `pause` for a running agent, `stop` for a paused one, null for none. */
export function idleVerb(agent: IdleFacts, now: Date): 'pause' | 'stop' | null {
  const { status, lifecycle } = agent;
  if (agent.isKeptAwake || agent.operation !== null || (status !== 'running' && status !== 'paused')) return null;
  if (lifecycle.keepAwake === 'always' || lifecycle.idleTimeoutSeconds === 0) return null;
  const cameSo = status === 'running' ? agent.startedAt : agent.pausedAt;
  const since = Math.max(...[agent.createdAt, cameSo, agent.lastActiveAt].map((at) => at?.getTime() ?? 0));
  const seconds = status === 'running' ? lifecycle.idleTimeoutSeconds : lifecycle.stopAfterSeconds;
  if (now.getTime() - since < seconds * 1000) return null;
  return status === 'running' ? 'pause' : 'stop';
}

/** Whether the agent may be stopped for the memory it holds. */
export function mayBeEvicted(agent: Pick<IdleFacts, 'status' | 'operation' | 'lifecycle' | 'isKeptAwake'>): boolean {
  return (
    agent.status === 'paused' &&
    agent.operation === null &&
    !agent.isKeptAwake &&
    agent.lifecycle.keepAwake !== 'always'
  );
}
