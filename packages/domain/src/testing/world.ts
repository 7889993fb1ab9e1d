/**
 * A control plane and a host in miniature, for property tests of the rules. Every effect on row or host is one `yield`, so a
 * kill may fall between any two. It does what the engine's steps do, in their order, with nothing real behind it.
 */
import type { AgentStatus, StatusReasonCode } from '../agents/agent.ts';
import { nextStep, recentCrashes } from '../agents/next-step.ts';
import type { AgentFacts, Step, VmFacts } from '../agents/next-step.ts';
import type { Operation } from '../agents/operation.ts';
import type { FailingEffect } from './sequences.ts';

export interface Row {
  readonly desired: 'running' | 'deleted';
  readonly status: AgentStatus;
  readonly reason: StatusReasonCode | null;
  readonly operation: Operation | null;
  readonly generation: number;
  readonly executionId: string | null;
  readonly acknowledged: boolean;
  readonly crashes: readonly Date[];
  readonly startedAt: Date | null;
  readonly pausedAt: Date | null;
  /** Number of the template that its VM was made from. */
  readonly template: number;
}

interface Process {
  readonly executionId: string;
  state: 'running' | 'paused' | 'dead' | 'partial';
  /** The guest's knowledge. Its disk has it up to the last flush. */
  memory: number;
  /** Whether it was made from the machine at rest, whose place it takes once it is whole. */
  readonly overRest: boolean;
}

/** Where a new VM comes from: `rest` is the machine at rest with its memory, `rest-disk` without. */
type From = 'clone' | 'boot' | 'rest' | 'rest-disk';

class Failed extends Error {}
class Void extends Error {}

type Effects = Generator<void, void, void>;

export class World {
  row: Row = {
    desired: 'running',
    status: 'provisioning',
    reason: null,
    operation: null,
    generation: 1,
    executionId: null,
    acknowledged: false,
    crashes: [],
    startedAt: null,
    pausedAt: null,
    template: 0,
  };
  /** The template of new VMs. */
  newest = 0;
  process: Process | null = null;
  /** Knowledge on the disk of its VM; null when there is none. */
  disk: number | null = null;
  /** Its machine at rest; a backup while another VM is made in its place. */
  atRest: { readonly executionId: string; readonly disk: number; readonly memory: number } | null = null;
  now = new Date('2026-01-01T00:00:00Z');
  /** Effects that fail the next time. */
  readonly failing = new Set<FailingEffect>();
  /** Broken rules, in the order in which they were found. */
  readonly violations: string[] = [];
  private executions = 0;

  get facts(): AgentFacts {
    return {
      ...this.row,
      nextFrom: null,
      restoreTo: null,
      size: 'small',
      machine: null,
      settingsFit: true,
      egressFit: true,
      packagesFit: true,
      skillsFit: true,
      browserFit: true,
      trouble: null,
    };
  }

  get vm(): VmFacts | null {
    const { process, disk, atRest } = this;
    if (atRest && process === null && disk === null) {
      return { state: 'suspended', executionId: atRest.executionId, backup: null };
    }
    const backup = atRest && !process?.overRest ? atRest.executionId : null;
    // One that is not whole is no more than that, whatever became of its process.
    if (process?.overRest) return { state: 'partial', executionId: process.executionId, backup };
    if (process) return { state: process.state, executionId: process.executionId, backup };
    return disk === null ? null : { state: 'disk-only', executionId: null, backup };
  }

  /** The knowledge of the agent's disk; null when it has none. */
  get kept(): number | null {
    return this.isRestOwn ? this.atRest!.disk : this.disk;
  }

  /** Whether the agent is its machine at rest, and no VM in its place. */
  private get isRestOwn(): boolean {
    const { atRest, process, disk, row } = this;
    if (atRest === null) return false;
    return (process === null && disk === null) || process?.overRest === true || atRest.executionId === row.executionId;
  }

  /** Yields one pass, effect by effect. */
  *pass(): Effects {
    const { generation } = this.row;
    const write = (facts: Partial<Row>): void => {
      if (this.row.generation !== generation) throw new Void();
      this.row = { ...this.row, ...facts };
    };
    try {
      yield* this.take(nextStep(this.facts, this.vm, this.now), write);
    } catch (error) {
      if (!(error instanceof Void) && !(error instanceof Failed)) throw error;
    }
  }

  private *take(step: Step, write: (facts: Partial<Row>) => void): Effects {
    switch (step.do) {
      case 'nothing':
      case 'apply':
      case 'install':
      case 'place-skills':
      case 'resize':
      case 'restrict':
      case 'show-browser':
      case 'load':
      case 'go-back':
        return;
      case 'clone':
        return yield* this.start('clone', write);
      case 'boot':
        if (step.crashed) {
          const crashes = [...recentCrashes(this.row.crashes, this.now), this.now];
          const ends = this.row.operation?.kind === 'pause' ? { operation: null } : {};
          write({ status: 'provisioning', reason: 'vm_crashed', crashes, ...ends });
        }
        return yield* this.boot(write);
      case 'restore':
        return yield* this.restore(write);
      case 'freeze':
        return yield* this.freeze(write);
      case 'thaw':
        return yield* this.thaw(write);
      case 'suspend':
        return yield* this.suspend(write);
      case 'save':
        return write({ operation: null });
      case 'restart':
        yield* this.restart(step.unhealthy, write);
        return;
      case 'upgrade':
        return yield* this.upgrade(write);
      case 'roll-back':
        return yield* this.rollBack(write);
      case 'drop-backup':
        this.atRest = null;
        return;
      case 'free':
        this.takeAway();
        yield;
        if (this.row.operation) write({ status: step.status, reason: null, operation: null });
        return;
      case 'record-status':
        return write({ status: step.status, reason: null, operation: null });
      case 'fail':
        return yield* this.fail(step.code, write);
      case 'delete':
        this.process = this.disk = this.atRest = null;
        return;
    }
  }

  private *start(from: From, write: (facts: Partial<Row>) => void): Effects {
    const adopted =
      from === 'rest' && this.process?.state === 'running' && this.process.executionId === this.row.executionId;
    for (let attempt = 1; ; attempt += 1) {
      const executionId = adopted ? this.row.executionId! : `e${(this.executions += 1)}`;
      write({ executionId, ...(from === 'clone' && { status: 'provisioning' }) });
      yield;
      try {
        if (!adopted) yield* this.create(from, executionId);
        this.attempt('ready');
        if (this.process?.state !== 'running') throw new Failed('the VM ended');
        yield;
        write({
          status: 'running',
          reason: null,
          operation: null,
          acknowledged: true,
          startedAt: this.now,
          pausedAt: null,
          ...(from === 'clone' && { template: this.newest }),
        });
        return;
      } catch (error) {
        if (!(error instanceof Failed) || from === 'rest') throw error;
        if (attempt < 2) continue;
        return yield* this.fail(from === 'clone' ? 'provisioning_failed' : 'resume_failed', write);
      }
    }
  }

  /** Creates a VM like a driver: it replaces the present one. A failure leaves the disk that is booted, and what is at rest. */
  private *create(from: From, executionId: string): Effects {
    const overRest = from === 'rest' || from === 'rest-disk';
    if (overRest && this.atRest === null) {
      this.process = null;
      throw new Failed('nothing is at rest');
    }
    if (from === 'clone' && this.row.acknowledged && this.atRest?.executionId !== this.row.executionId)
      this.violations.push('the disk of an acknowledged agent was replaced');
    this.process = null;
    if (from !== 'boot') this.disk = null;
    yield;
    if (from === 'boot' && this.disk === null) throw new Failed('no disk');
    if (from !== 'boot') this.disk = overRest ? this.atRest!.disk : 0;
    const memory = from === 'rest' ? this.atRest!.memory : this.disk!;
    this.process = { executionId, state: 'partial', memory, overRest };
    yield;
    if (this.process?.state !== 'partial' || this.fails('create')) {
      this.process = null;
      if (from !== 'boot') this.disk = null;
      throw new Failed('create');
    }
    this.process = { ...this.process, state: 'running', overRest: false };
    if (overRest) this.atRest = null;
    yield;
  }

  private *boot(write: (facts: Partial<Row>) => void): Effects {
    const { status } = this.row;
    if (status === 'stopped' && this.isRestOwn) this.violations.push('a start passed its machine at rest by');
    if (status !== 'provisioning') {
      write({ status: 'provisioning', reason: null, ...(status === 'error' && { crashes: [] }) });
    }
    yield;
    yield* this.start(this.isRestOwn ? 'rest-disk' : 'boot', write);
  }

  private *restore(write: (facts: Partial<Row>) => void): Effects {
    try {
      yield* this.start('rest', write);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      write({ status: 'provisioning' });
      yield;
      yield* this.boot(write);
    }
  }

  private *freeze(write: (facts: Partial<Row>) => void): Effects {
    this.alive();
    if (this.fails('pause')) return write({ operation: null });
    this.process!.state = 'paused';
    yield;
    write({ status: 'paused', reason: null, operation: null, pausedAt: this.now });
  }

  private *thaw(write: (facts: Partial<Row>) => void): Effects {
    this.alive();
    if (this.fails('resume')) {
      write({ status: 'provisioning' });
      yield;
      return yield* this.boot(write);
    }
    this.process!.state = 'running';
    yield;
    write({ status: 'running', reason: null, operation: null, startedAt: this.now, pausedAt: null });
  }

  private *suspend(write: (facts: Partial<Row>) => void): Effects {
    const goOn = { status: 'running', reason: 'snapshot_failed', operation: null, startedAt: this.now } as const;
    this.alive();
    this.process!.state = 'running';
    yield;
    this.alive();
    if (this.fails('quiesce')) return write(goOn);
    this.disk = this.process!.memory;
    yield;
    this.alive();
    this.process!.state = 'paused';
    yield;
    this.alive();
    if (this.fails('suspend')) {
      this.process!.state = 'running';
      yield;
      return write(goOn);
    }
    this.comeToRest();
    yield;
    write({ status: 'stopped', reason: null, operation: null });
  }

  private *restart(unhealthy: boolean, write: (facts: Partial<Row>) => void): Effects {
    if (this.process?.state === 'running' || this.process?.state === 'paused') this.disk = this.process.memory;
    yield;
    const crashes = unhealthy ? [...recentCrashes(this.row.crashes, this.now), this.now] : this.row.crashes;
    write({ status: 'provisioning', crashes });
    yield;
    this.takeAway();
    yield;
    yield* this.start('boot', write);
  }

  private *upgrade(write: (facts: Partial<Row>) => void): Effects {
    if (!this.atRest && !(yield* this.leave(write))) return;
    write({ status: 'provisioning', reason: null });
    yield;
    try {
      const executionId = `e${(this.executions += 1)}`;
      yield* this.create('clone', executionId);
      this.disk = this.atRest!.disk;
      yield;
      this.process = null;
      yield;
      yield* this.create('boot', executionId);
      this.attempt('ready');
      this.alive();
      yield;
      const done = { status: 'running', reason: null, operation: null, startedAt: this.now } as const;
      write({ ...done, executionId, template: this.newest });
      yield;
      this.atRest = null;
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      write({ reason: 'upgrade_failed', operation: null });
    }
  }

  /** Brings the VM to rest. False when the upgrade has ended with the agent as it was. */
  private *leave(write: (facts: Partial<Row>) => void): Generator<void, boolean, void> {
    const goOn = { status: 'running', reason: 'upgrade_failed', operation: null, startedAt: this.now } as const;
    this.alive();
    this.process!.state = 'running';
    yield;
    this.alive();
    if (this.fails('quiesce')) {
      write(goOn);
      return false;
    }
    this.disk = this.process!.memory;
    yield;
    this.alive();
    if (this.fails('suspend')) {
      write(goOn);
      return false;
    }
    this.process!.state = 'paused';
    yield;
    this.alive();
    this.comeToRest();
    yield;
    return true;
  }

  private *rollBack(write: (facts: Partial<Row>) => void): Effects {
    this.process = this.disk = null;
    yield;
    yield* this.restore(write);
  }

  private comeToRest(): void {
    const { executionId, memory } = this.process!;
    this.atRest = { executionId, memory, disk: this.disk! };
    this.process = this.disk = null;
  }

  private *fail(code: StatusReasonCode, write: (facts: Partial<Row>) => void): Effects {
    this.takeAway();
    yield;
    write({ status: 'error', reason: code, operation: null, pausedAt: null });
  }

  private takeAway(): void {
    if (this.fails('remove')) return;
    this.process = null;
    if (!this.row.acknowledged) this.disk = null;
  }

  /** Throws when the step's VM has ended, so the host is looked at again. */
  private alive(): void {
    if (this.process?.state !== 'running' && this.process?.state !== 'paused') throw new Failed('the VM is gone');
  }

  private attempt(effect: FailingEffect): void {
    if (this.fails(effect)) throw new Failed(effect);
  }

  private fails(effect: FailingEffect): boolean {
    return this.failing.delete(effect);
  }
}
