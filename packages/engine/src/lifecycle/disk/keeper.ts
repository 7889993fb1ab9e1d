/**
 * Keeps the host's disk from running full, for the database lies on it as well as the agents' disks.
 *
 * Looks at free space so often that guests cannot write down to the floor in between (`nextDiskLookMs`), and now and then at
 * each agent's usage. Below the floor the agent that writes most is paused. The VM is frozen first and its row is written at
 * the same time: a commit waits for a disk that is busy with the guests' writes.
 *
 *   ample, low:      agents' figures are read now and then; from `low` on no dispensable data is kept (`hasRoom`)
 *   short:           the largest writers are frozen and paused, until the others write little
 *   critical:        every writer is; a VM that is only being made is taken away, its disk kept
 *   no longer short: a VM that was frozen while another operation had its agent goes on; an agent that was paused waits
 *                    for its owner
 *
 * Nothing here outlives the process. The reconcile loop lets a frozen VM go on if its row says `running`; the next look
 * freezes it again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { diskLevel, nextDiskLookMs, writersToPause } from '@lodge/domain';
import type { DiskHolder, DiskLevel, DiskSettings, HostDisk } from '@lodge/domain';
import type { DiskUse, Log, VmDriver } from '@lodge/ports';
import type { AgentHolder } from '@lodge/store/agents';
import { beginOperation } from '../../agents/decisions.ts';
import type { Database } from '@lodge/store/database';
import type { Endings } from '../endings.ts';
import { Growth } from './growth.ts';

export interface DiskDeps {
  readonly database: Database;
  readonly driver: Pick<VmDriver, 'hostDisk' | 'diskUse' | 'inspect' | 'pause' | 'resume'>;
  readonly endings: Pick<Endings, 'remove'>;
  readonly log: Log;
  readonly holder: string;
  readonly settings: DiskSettings;
}

/** How often the figures of all agents are read. Below the floor, each look reads those of running VMs again. */
const readEveryMs: Readonly<Record<DiskLevel, number>> = { ample: 10_000, low: 2_000, short: 2_000, critical: 1_000 };
/** Reading the figures takes no more than this part of the time. */
const busiest = 0.2;
const afterFailureMs = 1_000;
/** A freeze takes milliseconds; QEMU then writes its pending disk data out. The next look does not wait for that. */
const freezeWaitMs = 200;

export class DiskKeeper {
  private readonly deps: DiskDeps;
  private readonly stopping = new AbortController();
  private readonly growth = new Growth();
  /** Usage by agent, as last read; null before the first reading. */
  private uses: ReadonlyMap<string, DiskUse> | null = null;
  private reading: Promise<readonly DiskUse[]> | null = null;
  private readAgainAt = 0;
  private level: DiskLevel = 'ample';
  private readonly freezing = new Set<string>();
  private readonly beginning = new Set<string>();
  /** Frozen VMs whose agents could not be paused, by execution. */
  private readonly frozen = new Map<string, string>();
  private heldMib = 0;
  private rounds: Promise<void> | null = null;

  constructor(deps: DiskDeps) {
    this.deps = deps;
  }

  start(): void {
    this.rounds = this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.rounds;
  }

  /** Returns the host's disk as it is now. The agents' figures have been read at least once by then. */
  async host(): Promise<HostDisk> {
    if (this.uses === null) await this.read();
    const { freeMib } = await this.deps.driver.hostDisk();
    return { ...this.deps.settings, freeMib };
  }

  /** Whether the last look found room for dispensable data. There is none before any agent is paused. */
  get hasRoom(): boolean {
    return this.level === 'ample';
  }

  /** Whether the last look found the host below its floor. */
  get isShort(): boolean {
    return this.level === 'short' || this.level === 'critical';
  }

  /** The agent's disk usage, as last read; null when this host knows nothing of it. */
  usedMib(agentId: string): number | null {
    return this.uses?.get(agentId)?.diskMib ?? null;
  }

  /** The disk usage of those agents that are on this host, or on none yet, as last read. */
  holders(agents: readonly AgentHolder[]): readonly DiskHolder[] {
    const nothing = { diskMib: 0, snapshotMib: 0 };
    return agents
      .filter(({ host }) => host === null || host === this.deps.holder)
      .map(({ id, size }) => ({ ...nothing, ...this.uses?.get(id), size }));
  }

  /** Reserves room for a snapshot until the returned function is called; null when there is none. */
  async holdRoom(mib: number): Promise<(() => void) | null> {
    const host = await this.host();
    const left = { ...host, freeMib: host.freeMib - this.heldMib - mib };
    if (diskLevel(left) === 'critical') return null;
    this.heldMib += mib;
    return () => {
      this.heldMib -= mib;
    };
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const waitMs = await this.look().catch((error: unknown) => {
        if (!signal.aborted) this.deps.log.warn({ err: error }, 'disk of the host not looked at; it will be repeated');
        return afterFailureMs;
      });
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Looks once and returns the milliseconds until the next look. */
  private async look(): Promise<number> {
    const host = await this.host();
    const level = diskLevel(host);
    this.say(level, host);
    const isDue = performance.now() >= this.readAgainAt;
    if (this.isShort) {
      // Readings may take long; freezing must not wait for them.
      if (isDue)
        this.read().catch((error: unknown) => this.deps.log.warn({ err: error }, "agents' disks not looked at"));
      await this.relieve(host);
    } else {
      if (isDue) await this.read();
      await this.letGoOn();
    }
    return nextDiskLookMs(host);
  }

  private say(level: DiskLevel, { freeMib, floorMib }: HostDisk): void {
    if (level === this.level) return;
    const figures = { level, free_mib: freeMib, floor_mib: floorMib };
    this.level = level;
    this.readAgainAt = 0;
    if (this.isShort) this.deps.log.warn(figures, 'the disk is short: agents that write are paused');
    else this.deps.log.info(figures, 'free space on the disk has changed its level');
  }

  private read(): Promise<readonly DiskUse[]> {
    this.reading ??= this.readNow().finally(() => {
      this.reading = null;
    });
    return this.reading;
  }

  private async readNow(): Promise<readonly DiskUse[]> {
    const began = performance.now();
    const uses = await this.deps.driver.diskUse('all');
    const now = performance.now();
    this.uses = new Map(uses.map((use) => [use.agentId, use]));
    this.growth.keep(this.uses);
    this.growth.add(uses, now);
    this.readAgainAt = now + Math.max(readEveryMs[this.level], (now - began) / busiest);
    return uses;
  }

  private async relieve(host: HostDisk): Promise<void> {
    const level = diskLevel(host);
    const running = await this.deps.driver.diskUse('running');
    this.growth.add(running, performance.now());
    const uses = [...new Map([...(this.uses ?? []), ...running.map((use) => [use.agentId, use] as const)]).values()];
    const growths = this.growth.of(uses).filter(({ id }) => !this.freezing.has(id));
    const chosen = new Set(writersToPause(host, growths));
    const frozen: Promise<void>[] = [];
    for (const use of uses) {
      if (!chosen.has(use.agentId)) continue;
      frozen.push(this.freeze(use, level));
      // The freeze does not wait for this, because a commit needs the disk.
      if (!this.beginning.has(use.agentId)) void this.pause(use);
    }
    await Promise.race([Promise.all(frozen), sleep(freezeWaitMs, undefined, { ref: false })]);
  }

  /** Freezes the VM. Never rejects: a VM that could not be frozen still grows, and is chosen again. */
  private async freeze(use: DiskUse, level: DiskLevel): Promise<void> {
    const { agentId } = use;
    this.freezing.add(agentId);
    try {
      await this.endWriting(use, level);
    } catch (error) {
      this.deps.log.warn({ agent_id: agentId, err: error }, 'an agent that writes was not frozen');
    } finally {
      // The VM's writing until now is dealt with.
      this.growth.forget(agentId);
      this.freezing.delete(agentId);
    }
  }

  /**
   * Writes the pause into the agent's row. Never rejects: a frozen VM whose row does not say so goes on, and is chosen
   * again.
   */
  private async pause({ agentId, executionId }: DiskUse): Promise<void> {
    this.beginning.add(agentId);
    try {
      const isBegun = await this.begin(agentId);
      if (isBegun) this.frozen.delete(agentId);
      else if (executionId !== null) this.frozen.set(agentId, executionId);
      const fields = { agent_id: agentId, is_begun: isBegun };
      this.deps.log.warn(fields, 'an agent that writes is paused: the disk is short');
    } catch (error) {
      this.deps.log.warn({ agent_id: agentId, err: error }, 'the pause of an agent that writes was not written');
    } finally {
      this.beginning.delete(agentId);
    }
  }

  private async endWriting({ agentId, executionId, snapshotMib }: DiskUse, level: DiskLevel): Promise<void> {
    const { driver, endings } = this.deps;
    if (executionId !== null) return driver.pause(agentId, executionId);
    // A booting guest may write for minutes before it answers, and its VM cannot be paused until then. With a snapshot no
    // guest boots.
    if (level !== 'critical' || snapshotMib > 0) return;
    if ((await driver.inspect(agentId))?.state === 'partial') await endings.remove(agentId, { keepDisk: true });
  }

  /** Whether the agent is on its way to `paused`. */
  private async begin(agentId: string): Promise<boolean> {
    const { database, holder } = this.deps;
    const begun = await beginOperation(database, agentId, 'disk', ({ row }) =>
      row.host === holder && row.status === 'running' && row.operation === null
        ? { do: 'begin', kind: 'pause' }
        : { do: 'nothing' },
    );
    if (begun === null) return false;
    const { row, admission } = begun;
    return admission.do === 'begin' || row.status === 'paused' || row.operation?.kind === 'pause';
  }

  private async letGoOn(): Promise<void> {
    for (const [agentId, executionId] of this.frozen) {
      this.frozen.delete(agentId);
      await this.deps.driver.resume(agentId, executionId).catch((error: unknown) => {
        this.deps.log.warn({ agent_id: agentId, err: error }, 'a frozen VM did not go on');
      });
    }
  }
}
