/**
 * Checks running agents from outside: whether the gateway answers, the guest has run out of memory, or its disk is full. A
 * gateway that fails several checks in a row is restarted with its machine, by an ordinary operation; the domain bounds how
 * often.
 *
 * The findings are kept in memory only: after a restart of the control plane a crash has a less specific reason until the
 * next look. An agent with a running turn is given far longer, because a gateway at work may be slow to answer.
 */
import { crashWindowMs } from '@lodge/domain';
import type { Happening } from '@lodge/domain';
import type { Database } from '@lodge/store/database';
import { appendAgentEvent } from '@lodge/store/events';
import { Rounds } from '../../periodic.ts';
import type { Log, RuntimeHealth } from '@lodge/ports';
import { presentAgents } from '@lodge/store/agents';
import type { AgentRow } from '@lodge/store/agents';
import { beginOperation } from '../../agents/decisions.ts';

export interface HealthDeps {
  readonly database: Database;
  readonly log: Log;
  readonly holder: string;
  /** Looks into a running agent's guest once; rejects when the guest itself does not answer. */
  readonly look: (agent: AgentRow, signal: AbortSignal) => Promise<RuntimeHealth>;
  readonly lookEveryMs: number;
  /** The host's pace, as `VmDriver` says it. */
  readonly pace: () => number;
}

/** Multiplied by the host's pace. */
const lookTimeoutMs = 15_000;
const maxAtATime = 4;
/** Failed looks in a row before a gateway counts as unhealthy: of an agent at rest, and of one that is working. */
const failuresAtRest = 3;
const failuresAtWork = 20;
const fullBelowMib = 64;

interface Found {
  readonly executionId: string;
  failures: number;
  oomKills: number;
  /** When the guest's kernel last ended a process for lack of memory. It counts for as long as a crash does. */
  outOfMemoryAt: number;
  full: boolean;
}

export class HealthWatch extends Rounds {
  private readonly deps: HealthDeps;
  private readonly found = new Map<string, Found>();

  constructor(deps: HealthDeps) {
    super({ everyMs: deps.lookEveryMs, log: deps.log, failed: 'health of agents not looked at; it will be repeated' });
    this.deps = deps;
  }

  /** The trouble that the last look found. */
  trouble(agentId: string): 'out_of_memory' | 'disk_full' | null {
    const found = this.found.get(agentId);
    if (!found) return null;
    if (found.full) return 'disk_full';
    return Date.now() - found.outOfMemoryAt < crashWindowMs ? 'out_of_memory' : null;
  }

  protected async round(): Promise<void> {
    const { database, holder } = this.deps;
    const agents = await database.repeatable((db) => presentAgents(db, holder));
    const there = new Set(agents.map(({ id }) => id));
    for (const id of this.found.keys()) if (!there.has(id)) this.found.delete(id);
    const queue = agents.filter((agent) => agent.host === holder && isAtRest(agent)).values();
    const worker = async (): Promise<void> => {
      for (const agent of queue) {
        if (this.signal.aborted) return;
        await this.lookAt(agent);
      }
    };
    await Promise.all(Array.from({ length: maxAtATime }, worker));
  }

  private async lookAt(agent: AgentRow): Promise<void> {
    const found = this.of(agent);
    let gateway: string | null;
    try {
      const { look, pace } = this.deps;
      const signal = AbortSignal.any([this.signal, AbortSignal.timeout(lookTimeoutMs * pace())]);
      const health = await look(agent, signal);
      gateway = health.gateway;
      await this.note(agent, found, health);
    } catch (error) {
      if (this.signal.aborted) return;
      gateway = error instanceof Error ? error.message : String(error);
    }
    found.failures = gateway === null ? 0 : found.failures + 1;
    if (found.failures < failuresAtRest) return;
    this.deps.log.warn({ agent_id: agent.id, failures: found.failures, gateway }, 'gateway does not answer');
    await this.restart(agent, found);
  }

  private async restart(agent: AgentRow, found: Found): Promise<void> {
    const begun = await beginOperation(this.deps.database, agent.id, 'health', ({ row, isKeptAwake }) => {
      const same = isAtRest(row) && row.executionId === found.executionId;
      const enough = found.failures >= (isKeptAwake ? failuresAtWork : failuresAtRest);
      return same && enough ? { do: 'begin', kind: 'restart' } : { do: 'nothing' };
    });
    if (begun?.admission.do === 'begin') found.failures = 0;
  }

  private async note(agent: AgentRow, found: Found, { oomKills, diskFreeMib }: RuntimeHealth): Promise<void> {
    // After a cold boot the counter begins at zero again.
    const killed = oomKills !== null && oomKills > (oomKills < found.oomKills ? 0 : found.oomKills);
    const full = diskFreeMib !== null && diskFreeMib < fullBelowMib;
    if (oomKills !== null) found.oomKills = oomKills;
    const wasFull = found.full;
    if (killed) found.outOfMemoryAt = Date.now();
    if (diskFreeMib !== null) found.full = full;
    const tell = (event: Happening) => this.deps.database.transaction((trx) => appendAgentEvent(trx, agent.id, event));
    if (killed) await tell({ type: 'agent.out_of_memory', data: {} });
    if (full && !wasFull) await tell({ type: 'agent.disk_full', data: { free_mib: diskFreeMib } });
  }

  private of({ id, executionId }: AgentRow): Found {
    const there = this.found.get(id);
    if (there?.executionId === executionId) return there;
    // A machine that came back from its snapshot continues its counter.
    const before = there ?? { oomKills: 0, outOfMemoryAt: -Infinity, full: false };
    const fresh: Found = { ...before, executionId: executionId!, failures: 0 };
    this.found.set(id, fresh);
    return fresh;
  }
}

/** Whether the agent runs and no operation changes its machine. */
function isAtRest({ desired, status, operation, executionId, vmAddress }: AgentRow): boolean {
  return (
    desired === 'running' && status === 'running' && operation === null && executionId !== null && vmAddress !== null
  );
}
