/** The common parts of every step of a pass: the agent as the pass read it, guarded writes and bounded waits. */
import type { AgentStatus, OperationCause } from '@lodge/domain';
import { NamedError, untilAborted } from '@lodge/domain';
import type { AgentRuntime, AgentSettings, GuestAddress, Template, VmObservation } from '@lodge/ports';
import { observeAgent } from '../observing.ts';
import type { AgentRow, Observation } from '@lodge/store/agents';
import { VmError } from '@lodge/ports';
import type { Transaction } from '@lodge/store/database';
import { appendLogFrom } from '@lodge/store/logs';
import { guestOf } from '../../agents/guest-of.ts';
import { settingsDigest } from '../../agents/settings.ts';
import type { ReconcilerDeps } from './deps.ts';

/**
 * The agent's desired state has changed since the pass began, or another holder drives it: the decision of the pass is void.
 */
export class Overtaken extends NamedError {
  constructor() {
    super('the pass was overtaken');
  }
}

/** The host is not as the pass saw it (the VM ended, say), so it must be looked at again. */
export class LookAgain extends NamedError {
  constructor(cause: unknown) {
    super('the host has changed under the pass', { cause });
  }
}

/** VM or runtime failed or were too slow, as opposed to the store; `cause` is for the operator's log alone. */
export class StepFailed extends NamedError {
  readonly timedOut: boolean;
  constructor(cause: unknown, timedOut: boolean) {
    super('a step failed', { cause });
    this.timedOut = timedOut || (cause instanceof VmError && cause.code === 'timeout');
  }

  isVm(code: VmError['code']): boolean {
    return this.cause instanceof VmError && this.cause.code === code;
  }
}

/** A VM that does not answer still exists: the failed step is tried again on it, and the VM does not count as dead. */
const holdsExecution: ReadonlySet<VmObservation['state'] | undefined> = new Set(['running', 'paused', 'unresponsive']);

export class Pass {
  readonly deps: ReconcilerDeps;
  readonly agent: AgentRow;
  readonly vm: VmObservation | null;
  /** Aborts when the pass is overtaken, or the loop stops. */
  readonly signal: AbortSignal;
  private readonly startedAt = performance.now();
  private written: AgentStatus;

  constructor(deps: ReconcilerDeps, agent: AgentRow, vm: VmObservation | null, signal: AbortSignal) {
    this.deps = deps;
    this.agent = agent;
    this.written = agent.status;
    this.vm = vm;
    this.signal = signal;
  }

  get id(): string {
    return this.agent.id;
  }

  get runtime(): AgentRuntime {
    return this.deps.runtimes.get(this.agent.runtimeKind)!;
  }

  get settings(): AgentSettings {
    return this.deps.settingsOf(this.agent);
  }

  /** The digest of the settings that should be in effect in the guest. */
  get settingsDigest(): string {
    return settingsDigest(this.runtime, this.settings);
  }

  /** Does the work when its account's turn comes. Rejects with the signal's reason when the signal fires first. */
  inSlot<T>(kind: keyof ReconcilerDeps['slots'], work: () => Promise<T>, signal = this.signal): Promise<T> {
    return this.deps.slots[kind].through(this.agent.accountId, work, { signal });
  }

  /** The guest's address as the host says it, because the row gives the address up before the VM goes. */
  get guest(): GuestAddress {
    return guestOf(this.deps.driver, { agentId: this.id, address: this.vm?.address ?? this.agent.vmAddress ?? '' });
  }

  get elapsedMs(): number {
    return performance.now() - this.startedAt;
  }

  /** The status that this pass found, or has written since. */
  get status(): AgentStatus {
    return this.written;
  }

  /** Why the running operation was begun, as its event says; null: there is none. */
  get because(): { readonly cause: OperationCause | null } {
    return { cause: this.agent.operation?.cause ?? null };
  }

  /** The duration of the pass, as its event says. */
  get took(): { readonly duration_ms: number } {
    return { duration_ms: Math.round(this.elapsedMs) };
  }

  /** The template the agent's disk lies over. */
  async template(): Promise<Template | null> {
    return this.agent.templateId === null ? null : this.deps.templates.get(this.agent.templateId);
  }

  /** Whether the execution of the row still has a VM; when not, another step is due than the failed one. */
  async stillThere(): Promise<boolean> {
    const vm = await this.deps.driver.inspect(this.id);
    return vm?.executionId === this.agent.executionId && holdsExecution.has(vm?.state);
  }

  /** Rejects with `LookAgain` when the step failed because the VM ended. */
  async checkStillThere({ cause }: StepFailed): Promise<void> {
    if (!(await this.stillThere())) throw new LookAgain(cause);
  }

  /** Reserves room for the VM's memory, which a save of it does not exceed by much. Null when there is none. */
  async holdRoom(): Promise<(() => void) | null> {
    const { driver, disk } = this.deps;
    const usage = await driver.usage(this.id);
    return disk.holdRoom(usage ? usage.memoryMib + usage.swappedMib : 0);
  }

  /** Writes facts, and with an event what `also` writes. Rejects with `Overtaken` when they are void. */
  async observe(facts: Observation, also?: (trx: Transaction) => Promise<void>): Promise<void> {
    const { database, holder, onOperationEnded } = this.deps;
    const { written, ended } = await observeAgent(database, this.id, this.agent.generation, holder, facts, also);
    if (ended !== null) onOperationEnded?.(ended);
    if (!written) throw new Overtaken();
    if (facts.status !== undefined) this.written = facts.status;
  }

  /** Continues the agent's log with the lines of another guest's runtime: from the first line, or from now on. */
  readLogFrom(executionId: string, where: 'start' | 'end'): Promise<void> {
    const offset = where === 'start' ? 0 : Number.MAX_SAFE_INTEGER;
    const position = { executionId, offset };
    return this.deps.database.transaction((trx) => appendLogFrom(trx, this.id, 'gateway', position, []));
  }

  /**
   * Gives the address up before the VM goes: another agent may have it a moment later, and must not be taken for this one.
   */
  giveUpAddress(): Promise<void> {
    return this.observe({ vmAddress: null });
  }

  /**
   * Runs work of driver or runtime within a bound, which holds even if the work ignores its signal. Rejects with
   * `StepFailed`, or with the reason of `signal` when the pass itself ended.
   */
  async within<T>(bound: number | AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const deadline = typeof bound === 'number' ? AbortSignal.timeout(bound) : bound;
    const signal = AbortSignal.any([this.signal, deadline]);
    try {
      return await untilAborted(work(signal), signal);
    } catch (error) {
      this.signal.throwIfAborted();
      throw new StepFailed(error, deadline.aborted);
    }
  }

  /** Does work as `within` does, and returns the failure where the VM is still there. Where it is not, rejects with `LookAgain`. */
  async attempt<T>(bound: number | AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T | StepFailed> {
    try {
      return await this.within(bound, work);
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error;
      await this.checkStillThere(error);
      return error;
    }
  }

  logToOperator(level: 'info' | 'warn', message: string, fields: object = {}): void {
    this.deps.log[level]({ agent_id: this.id, ...fields }, message);
  }
}
