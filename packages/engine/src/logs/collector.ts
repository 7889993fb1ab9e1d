/**
 * Brings the console output, runtime logs and egress refusals of this host's machines into the agents' logs.
 *
 * Every round looks at the agents and reads each that is due. There is one read at a time for an agent and source. A read
 * gives its place up after a bounded time, and a failed one is not repeated at once, so hanging guests delay nobody else for
 * long. The read position is stored with the lines (`appendFrom`), so a restart neither repeats nor skips. Only console and
 * refusals, which the driver returns once, lose the lines that were read and not yet written at a kill.
 */
import { Semaphore, backoffMs } from '@lodge/domain';
import type { RuntimeKind } from '@lodge/domain';
import type { AgentRuntime, Log, LogBounds, VmDriver } from '@lodge/ports';
import { presentAgents } from '@lodge/store/agents';
import type { AgentRow } from '@lodge/store/agents';
import type { Database } from '@lodge/store/database';
import { pruneLogs } from '@lodge/store/logs';
import { Periodic } from '../periodic.ts';
import { AgentReader } from './agent-reader.ts';

export interface LogCollectorDeps {
  readonly database: Database;
  readonly driver: Pick<VmDriver, 'readConsole' | 'readRefused' | 'dial' | 'guestCredential' | 'pace'>;
  readonly runtimes: ReadonlyMap<RuntimeKind, AgentRuntime>;
  readonly log: Log;
  readonly bounds: LogBounds;
  /** Names this host's control plane, as in the rows' `host`. */
  readonly holder: string;
  readonly timing?: Partial<CollectorTiming>;
}

const defaults = {
  /** Time between the beginnings of two reads of one agent, ms. */
  intervalMs: 2_000,
  pruneIntervalMs: 60_000,
  /** Time for one agent's reads together, ms. */
  timeoutMs: 5_000,
  concurrency: 16,
  rate: { perSecond: 100, burst: 1_000, charsPerSecond: 64 * 1024, charsBurst: 1024 * 1024 },
};

export type CollectorTiming = Readonly<typeof defaults>;
/** Longest time between two tries of a failing read. */
const maxWaitMs = 60_000;

export function createLogCollector(deps: LogCollectorDeps): LogCollector {
  return new LogCollector(deps);
}

type Source = 'console' | 'gateway' | 'egress';

/** The reads of one agent and source. */
interface Reading {
  busy: boolean;
  failures: number;
  /** A time of `performance.now()`. */
  notBefore: number;
}

interface Agent {
  readonly reader: AgentReader;
  readonly readings: Readonly<Record<Source, Reading>>;
}

export class LogCollector {
  private readonly deps: LogCollectorDeps;
  private readonly timing: CollectorTiming;
  private readonly agents = new Map<string, Agent>();
  private readonly stopping = new AbortController();
  private readonly rounds: readonly Periodic[];
  /** The running reads. */
  private readonly underWay = new Set<Promise<void>>();
  /** At most one read of an agent and source waits here. */
  private readonly places: Semaphore;

  constructor(deps: LogCollectorDeps) {
    this.deps = deps;
    this.timing = { ...defaults, ...deps.timing };
    const { concurrency, intervalMs, pruneIntervalMs } = this.timing;
    this.places = new Semaphore(concurrency);
    const shared = { log: deps.log, failed: 'a round over the logs of agents failed' };
    this.rounds = [
      new Periodic({ ...shared, everyMs: intervalMs, round: () => this.round() }),
      new Periodic({ ...shared, everyMs: pruneIntervalMs, round: () => pruneLogs(deps.database, deps.bounds) }),
    ];
  }

  start(): void {
    for (const each of this.rounds) each.start();
  }

  /** Ends the reads under way and waits for the writes. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('the log collector stops'));
    await Promise.all(this.rounds.map((each) => each.stop()));
    await Promise.all(this.underWay);
  }

  private track(work: Promise<void>): void {
    this.underWay.add(work);
    void work.finally(() => this.underWay.delete(work));
  }

  private async round(): Promise<void> {
    const { database, holder } = this.deps;
    const rows = (await database.repeatable((db) => presentAgents(db, holder))).filter(
      (row) => row.host === holder && sourcesOf(row).length > 0,
    );
    const ids = new Set(rows.map(({ id }) => id));
    for (const id of this.agents.keys()) if (!ids.has(id)) this.agents.delete(id);
    for (const row of rows) {
      const agent = this.agentOf(row.id);
      for (const source of sourcesOf(row)) this.readWhenDue(row, agent, source);
    }
  }

  private agentOf(id: string): Agent {
    let agent = this.agents.get(id);
    if (!agent) {
      const reading = (): Reading => ({ busy: false, failures: 0, notBefore: 0 });
      const reader = new AgentReader(id, { ...this.deps, rate: this.timing.rate });
      agent = { reader, readings: { console: reading(), gateway: reading(), egress: reading() } };
      this.agents.set(id, agent);
    }
    return agent;
  }

  private readWhenDue(row: AgentRow, { reader, readings }: Agent, source: Source): void {
    const reading = readings[source];
    if (reading.busy || reading.notBefore > performance.now() || this.stopping.signal.aborted) return;
    reading.busy = true;
    const read = async (signal: AbortSignal): Promise<void> => {
      if (source === 'console') return reader.readConsole();
      if (source === 'egress') return reader.readRefused(row);
      const runtime = this.deps.runtimes.get(row.runtimeKind);
      if (runtime) await reader.readRuntimeLog(row, runtime, signal);
    };
    this.track(this.places.through(() => this.bounded(row.id, source, reading, read)));
  }

  /** Gives the place up after the timeout; the source stays busy until the read has really ended. Never rejects. */
  private async bounded(
    agentId: string,
    source: Source,
    reading: Reading,
    read: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    if (this.stopping.signal.aborted) return;
    const timeout = AbortSignal.timeout(this.timing.timeoutMs);
    const ended = read(AbortSignal.any([timeout, this.stopping.signal]))
      .then(
        () => {
          reading.failures = 0;
        },
        (error: unknown) => this.failed(agentId, source, reading, error),
      )
      .finally(() => {
        reading.busy = false;
      });
    const timedOut = new Promise<void>((resolve) => timeout.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([ended, timedOut]);
  }

  private failed(agentId: string, source: Source, reading: Reading, error: unknown): void {
    if (this.stopping.signal.aborted) return;
    reading.failures += 1;
    const waitMs = backoffMs({ firstMs: this.timing.intervalMs, maxMs: maxWaitMs }, reading.failures);
    reading.notBefore = performance.now() + waitMs;
    const fields = { err: error, agent_id: agentId, source, retry_ms: waitMs };
    // A machine that is just ending fails to answer once or twice.
    this.deps.log[reading.failures === 3 ? 'warn' : 'debug'](fields, 'the log of an agent could not be read');
  }
}

/**
 * The sources that are read of an agent now. A machine that is being changed may be frozen at any moment, so only its
 * console can be read.
 */
function sourcesOf({ status, operation, desired, egress }: AgentRow): readonly Source[] {
  if (desired === 'deleted' || (status !== 'running' && status !== 'provisioning')) return [];
  // Addresses that are not public are refused to everybody, and not worth a line.
  const always: readonly Source[] = egress.mode === 'public' ? ['console'] : ['console', 'egress'];
  return status === 'running' && operation === null ? [...always, 'gateway'] : always;
}
