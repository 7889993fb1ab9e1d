/**
 * Installs of packages, which take minutes and so go on beside the passes over their agents.
 *
 *   a pass begins one ──> it runs, kept awake, in its account's turn ──> it has an end ──> the next pass records the end
 *                             │
 *                             └── ended by a pass whose agent is no longer to run as it did, or wants other packages
 *
 * Nothing of it is stored: a process that dies leaves a guest in which the next process begins again, and repeating changes
 * nothing. The package sources are open to the agent through the host while its install runs, and at no other time.
 */
import { NamedError, untilAborted } from '@lodge/domain';
import type { FairGate } from '@lodge/domain';
import type { GuestAddress, GuestPackages, InstallEnd, Log } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import { packagesDigest } from '../../agents/settings.ts';
import type { KeepAwakeLeases } from '../../turns/keep-awake.ts';

export interface InstallsDeps {
  readonly packages: GuestPackages;
  readonly keepAwake: Pick<KeepAwakeLeases, 'join' | 'drop'>;
  readonly slots: FairGate;
  readonly log: Log;
  /** Has the reconcile loop look at an agent. */
  readonly wake: (agentId: string) => void;
}

export type Ended = (InstallEnd | { readonly kind: 'unanswered' }) & { readonly ms: number };

interface Job {
  /** The execution and the digest that it is for. */
  readonly of: string;
  readonly abort: AbortController;
  readonly done: Promise<void>;
  isOpen: boolean;
  end: Ended | null;
}

class Unwanted extends NamedError {
  constructor() {
    super('the install is not wanted any more');
  }
}

const nameOf = (agent: AgentRow): string => `${agent.executionId} ${packagesDigest(agent.packages)}`;

export class Installs {
  private readonly deps: InstallsDeps;
  private readonly jobs = new Map<string, Job>();

  constructor(deps: InstallsDeps) {
    this.deps = deps;
  }

  /** Whether the agent's present packages are being installed in its present machine. */
  isRunning(agent: AgentRow): boolean {
    const job = this.jobs.get(agent.id);
    return job !== undefined && job.end === null && job.of === nameOf(agent);
  }

  /** Whether the package sources are open to an agent. */
  isOpen(agentId: string): boolean {
    return this.jobs.get(agentId)?.isOpen ?? false;
  }

  /** The end of the install of the agent's present packages; null when there is none to record. */
  endOf(agent: AgentRow): Ended | null {
    const job = this.jobs.get(agent.id);
    return job?.of === nameOf(agent) ? job.end : null;
  }

  begin(agent: AgentRow, guest: GuestAddress, throughHost: boolean): void {
    const abort = new AbortController();
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const job: Job = { of: nameOf(agent), abort, done, isOpen: false, end: null };
    this.jobs.set(agent.id, job);
    void this.run(agent, job, guest, throughHost).finally(resolve);
  }

  /** Ends the install of an agent, if there is one, and waits for that. */
  async end(agentId: string): Promise<void> {
    const job = this.jobs.get(agentId);
    if (!job) return;
    if (job.end === null) job.abort.abort(new Unwanted());
    await job.done;
    this.jobs.delete(agentId);
  }

  forget(agentId: string): void {
    const job = this.jobs.get(agentId);
    if (job?.end === null) job.abort.abort(new Unwanted());
    this.jobs.delete(agentId);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.jobs.keys()].map((id) => this.end(id)));
  }

  /** Never rejects. */
  private async run(agent: AgentRow, job: Job, guest: GuestAddress, throughHost: boolean): Promise<void> {
    const { packages, keepAwake, slots, log, wake } = this.deps;
    const { id, accountId } = agent;
    const { signal } = job.abort;
    const wanted = { packages: agent.packages, digest: packagesDigest(agent.packages), throughHost };
    keepAwake.join(id);
    try {
      job.end = await slots.through(
        accountId,
        async () => {
          const began = performance.now();
          job.isOpen = throughHost;
          const end = await untilAborted(packages.install(guest, wanted, signal), signal);
          return { ...end, ms: Math.round(performance.now() - began) };
        },
        { signal },
      );
    } catch (error) {
      job.end = { kind: 'unanswered', ms: 0 };
      if (!signal.aborted) log.warn({ err: error, agent_id: id }, 'packages not installed; it will be tried again');
    } finally {
      job.isOpen = false;
      keepAwake.drop(id);
    }
    if (!signal.aborted) wake(id);
  }
}
