/**
 * The reconcile loop: brings every agent's VM to the desired state of its row.
 *
 * It takes no input. A wake (a changed row, a VM that ended) or the timer only says *look now*. Each pass reads its work
 * from the store and the host, so a lost wake costs a few seconds and a repeated one nothing. At most one pass runs per
 * agent, and their total is bounded. A pass that throws (the database is away, say) is repeated after a pause. Passes are
 * idempotent, so it does not matter how far one came.
 */
import type { Log } from '@lodge/ports';
import { presentAgents } from '@lodge/store/agents';
import type { Store } from '@lodge/store';
import type { Database } from '@lodge/store/database';
import type { DriverInUse } from '../endings.ts';
import { LookAgain } from './pass.ts';

export interface LoopDeps {
  readonly database: Database;
  readonly changes: Store['changes'];
  readonly driver: DriverInUse;
  readonly log: Log;
  /** Names this host's control plane. */
  readonly holder: string;
  /** Makes one pass over one agent; aborted at stop. */
  readonly reconcileAgent: (id: string, signal: AbortSignal) => Promise<void>;
  /** Removes resources that no agent owns. */
  readonly collectLeftovers: () => Promise<void>;
  /** Concurrent passes. */
  readonly concurrency: number;
  readonly scanIntervalMs: number;
}

const retryPauseMs = 1_000;
/** Pause after a pass that found the host changed under it. */
const lookAgainMs = 50;

export class ReconcileLoop {
  private readonly deps: LoopDeps;
  private readonly waiting = new Set<string>();
  private readonly running = new Map<string, Promise<void>>();
  private readonly stopping = new AbortController();
  private readonly unsubscribe: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined;
  private scanning: Promise<void> | null = null;

  constructor(deps: LoopDeps) {
    this.deps = deps;
  }

  start(): void {
    const { changes, driver, scanIntervalMs } = this.deps;
    this.unsubscribe.push(
      changes.on('agent_changed', (id) => this.wake(id)),
      driver.onExit(({ agentId }) => this.wake(agentId)),
    );
    this.timer = setInterval(() => this.scan(), scanIntervalMs);
    this.scan();
  }

  /** Aborts the passes in progress and waits for them. VMs stay. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort();
    for (const off of this.unsubscribe) off();
    await Promise.all(this.running.values());
    await this.scanning;
  }

  /** Looks at this agent now; null: at all of them. */
  wake(id: string | null): void {
    if (id === null) {
      this.scan();
      return;
    }
    this.waiting.add(id);
    this.pump();
  }

  private pump(): void {
    for (const id of this.waiting) {
      if (this.stopping.signal.aborted || this.running.size >= this.deps.concurrency) return;
      if (this.running.has(id)) continue;
      this.waiting.delete(id);
      this.running.set(id, this.pass(id));
    }
  }

  private async pass(id: string): Promise<void> {
    try {
      await this.deps.reconcileAgent(id, this.stopping.signal);
    } catch (error) {
      if (!this.stopping.signal.aborted) this.repeat(id, error);
    } finally {
      this.running.delete(id);
      this.pump();
    }
  }

  private repeat(id: string, error: unknown): void {
    const changed = error instanceof LookAgain;
    if (!changed) this.deps.log.error({ err: error, agent_id: id }, 'reconcile pass failed; it will be repeated');
    setTimeout(() => this.wake(id), changed ? lookAgainMs : retryPauseMs).unref();
  }

  private scan(): void {
    if (this.stopping.signal.aborted) return;
    this.scanning ??= this.lookAtAll().finally(() => {
      this.scanning = null;
    });
  }

  private async lookAtAll(): Promise<void> {
    try {
      const { database, driver, holder } = this.deps;
      for (const agent of await database.repeatable((db) => presentAgents(db, holder))) this.waiting.add(agent.id);
      // A resting agent has no machine; one that has is looked at too.
      for (const { agentId, state } of await driver.list()) {
        if (state !== 'disk-only' && state !== 'suspended') this.waiting.add(agentId);
      }
      this.pump();
      await this.deps.collectLeftovers();
    } catch (error) {
      this.deps.log.error({ err: error }, 'reconcile scan failed; it will be repeated');
    }
  }
}
