/**
 * One pass over one agent: read the row and the host, take the one step the domain names, write what became of it.
 *
 * The pass holds the agent's lease and renews it while it works. Every write is guarded by the row's generation and the
 * lease (`AgentStore.observe`), so a decision that was overtaken changes nothing. What each failure leaves behind:
 *   - killed at any point of a clone: a partial VM under an execution id that is in the row or in none; the next pass
 *     supersedes it with a new execution;
 *   - killed between a running VM and the write that says so: the next pass makes a clone afresh (nobody was told of the first);
 *   - killed at any point of a boot: the disk is kept; the next pass boots it again;
 *   - killed at any point of a delete: the row still says deleted; the next pass removes the rest;
 *   - the database is away: the pass throws and is repeated, the VM is as it was.
 */
import { randomUUID } from 'node:crypto';
import { nextStep, recentCrashes, sizes } from '@lodge/domain';
import type { RuntimeKind, StatusReasonCode, Step } from '@lodge/domain';
import { VmError } from '../ports/index.ts';
import type {
  AgentRow,
  AgentRuntime,
  AgentSettings,
  AgentStore,
  Log,
  Observation,
  Template,
  VmDriver,
} from '../ports/index.ts';
import type { Templates } from '../templates/templates.ts';

export interface AgentReconcilerDeps {
  readonly store: AgentStore;
  readonly driver: VmDriver;
  readonly templates: Templates;
  readonly runtimes: ReadonlyMap<RuntimeKind, AgentRuntime>;
  readonly settingsOf: (agent: AgentRow) => AgentSettings;
  readonly log: Log;
  /** Who holds the leases: the same name after a restart of this host's control plane, which is the only one that drives its VMs. */
  readonly holder: string;
  /** From the create (or the crash) until `provisioning_timeout`. */
  readonly provisionTimeoutMs: number;
}

const leaseTtlMs = 30_000;
const leaseRenewMs = 10_000;
/** A clone that fails is tried once more from scratch: an emulator killed under it is no reason to fail the create. */
const cloneAttempts = 2;

export function createAgentReconciler(deps: AgentReconcilerDeps): (id: string, signal: AbortSignal) => Promise<void> {
  return async (id, stop) => {
    const agent = await deps.store.find(id);
    if (!agent) return;
    const step = nextStep(agent, await deps.driver.inspect(id), new Date());
    if (step.do === 'nothing') return;
    if (!(await deps.store.lease(id, deps.holder, leaseTtlMs))) return;
    const overtaken = watchGeneration(deps, agent);
    const renewal = setInterval(() => {
      deps.store.lease(id, deps.holder, leaseTtlMs).catch((error: unknown) => {
        deps.log.warn({ err: error, agent_id: id }, 'lease not renewed');
      });
    }, leaseRenewMs).unref();
    try {
      await takeStep(step, new AgentPass(deps, agent, AbortSignal.any([stop, overtaken.signal])));
    } catch (error) {
      // The row's change that overtook this pass has woken the next one already.
      if (!overtaken.signal.aborted) throw error;
    } finally {
      clearInterval(renewal);
      overtaken.close();
      await deps.store.releaseLease(id, deps.holder);
    }
  };
}

async function takeStep(step: Exclude<Step, { do: 'nothing' }>, pass: AgentPass): Promise<void> {
  switch (step.do) {
    case 'delete':
      return pass.delete();
    case 'clone':
      return pass.provision();
    case 'boot':
      return pass.recover(step.crashed);
    case 'fail':
      return pass.fail(step.code, step.message);
  }
}

/** Aborts `signal` once the agent wants something else than when the pass began. */
function watchGeneration(deps: AgentReconcilerDeps, agent: AgentRow): { readonly signal: AbortSignal; close(): void } {
  const abort = new AbortController();
  const look = (): void => {
    deps.store.find(agent.id).then(
      (row) => {
        if (row?.generation !== agent.generation) abort.abort();
      },
      (error: unknown) =>
        deps.log.warn({ err: error, agent_id: agent.id }, 'could not look whether a pass is overtaken'),
    );
  };
  const close = deps.store.onChange((id) => {
    if (id === null || id === agent.id) look();
  });
  // A change between the read of the row and the subscription would go unseen.
  look();
  return { signal: abort.signal, close };
}

class AgentPass {
  private readonly deps: AgentReconcilerDeps;
  private readonly agent: AgentRow;
  private readonly signal: AbortSignal;

  constructor(deps: AgentReconcilerDeps, agent: AgentRow, signal: AbortSignal) {
    this.deps = deps;
    this.agent = agent;
    this.signal = signal;
  }

  async delete(): Promise<void> {
    if (!(await this.giveUpAddress())) return;
    await this.deps.driver.remove(this.agent.id, { keepDisk: false });
    await this.deps.store.finishDelete(this.agent.id, this.deps.holder);
    this.deps.log.info({ agent_id: this.agent.id }, 'agent deleted');
  }

  async fail(code: StatusReasonCode, message: string): Promise<void> {
    if (!(await this.giveUpAddress())) return;
    await this.deps.driver.remove(this.agent.id, { keepDisk: this.agent.acknowledged });
    const statusReason = { code, message, at: new Date() };
    await this.observe({ status: 'error', statusReason });
    this.deps.log.warn({ agent_id: this.agent.id, code }, 'agent in error');
  }

  /** A clone of the current template, tried twice. */
  async provision(): Promise<void> {
    const deadline = this.deadline(this.agent.createdAt);
    const template = await this.awaitTemplate(deadline);
    if (!template) return;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.run('clone', template, deadline);
        return;
      } catch (error) {
        if (this.signal.aborted || !(error instanceof VmStepError)) throw error;
        this.deps.log.warn({ err: error.cause, agent_id: this.agent.id, attempt }, 'clone failed');
        if (attempt < cloneAttempts && !deadline.aborted) continue;
        await this.fail(error.code, error.publicMessage);
        return;
      }
    }
  }

  /** The agent's own disk, booted cold, under the template it was made from. */
  async recover(crashed: boolean): Promise<void> {
    const now = new Date();
    if (crashed) {
      const crashes = [...recentCrashes(this.agent.crashes, now), now];
      const statusReason = {
        code: 'vm_crashed',
        message: 'The VM ended unexpectedly; the agent is being started again from its disk.',
        at: now,
      } as const;
      if (!(await this.observe({ status: 'provisioning', statusReason, crashes, vmAddress: null }))) return;
      this.deps.log.warn({ agent_id: this.agent.id }, 'VM ended unexpectedly; booting its disk');
    }
    const template = this.agent.templateId ? await this.deps.templates.get(this.agent.templateId) : null;
    if (!template) {
      await this.fail('resume_failed', "The template this agent's disk was made from is gone.");
      return;
    }
    try {
      await this.run('boot', template, this.deadline(now));
    } catch (error) {
      if (this.signal.aborted || !(error instanceof VmStepError)) throw error;
      this.deps.log.warn({ err: error.cause, agent_id: this.agent.id }, 'boot failed');
      await this.fail(error.code, error.publicMessage);
    }
  }

  /** Makes the VM and its runtime ready and writes that the agent runs. Throws `VmStepError` when VM or runtime fail. */
  private async run(from: 'clone' | 'boot', template: Template, deadline: AbortSignal): Promise<void> {
    const { id } = this.agent;
    const executionId = randomUUID();
    if (
      !(await this.observe({
        executionId,
        templateId: template.id,
        vmAddress: null,
        ...(from === 'boot' ? {} : { statusReason: null }),
      }))
    )
      return;
    const signal = AbortSignal.any([this.signal, deadline]);
    const runtime = this.deps.runtimes.get(this.agent.runtimeKind)!;
    const settings = this.deps.settingsOf(this.agent);
    const startedAt = performance.now();
    const vm = await this.step(deadline, async () => {
      const machine = sizes[this.agent.size];
      return this.deps.driver.create({ agentId: id, executionId, machine, template, from }, signal);
    });
    const vmMs = performance.now() - startedAt;
    // The broker must know the agent by its address before the runtime can be the first to call it.
    if (!(await this.observe({ vmAddress: vm.address }))) return;
    await this.step(deadline, () =>
      from === 'clone'
        ? runtime.resumeClone(vm, template.facts, settings, signal)
        : runtime.awaitBoot(vm, template.facts, settings, signal),
    );
    const facts = { status: 'running', statusReason: null, acknowledged: true, startedAt: new Date() } as const;
    if (!(await this.observe(facts))) return;
    const figures = { vm_ms: Math.round(vmMs), total_ms: Math.round(performance.now() - startedAt) };
    this.deps.log.info({ agent_id: id, execution_id: executionId, from, ...figures }, 'agent running');
  }

  private async step<T>(deadline: AbortSignal, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw new VmStepError(error, deadline.aborted);
    }
  }

  /** The current template; says in the record what it waits for. Null when the agent was failed instead. */
  private async awaitTemplate(deadline: AbortSignal): Promise<Template | null> {
    const { templates } = this.deps;
    const kind = this.agent.runtimeKind;
    const current = templates.current(kind);
    if (current) return current;
    const say = async (): Promise<void> => {
      const progress = templates.progress(kind);
      const message = `The ${progress.runtime} template is being made: ${progress.state === 'failed' ? 'the last attempt failed, it will be repeated' : progress.step}.`;
      await this.observe({ statusReason: { code: 'waiting_for_template', message, at: new Date() } });
    };
    await say();
    const ticker = setInterval(() => void say().catch(() => undefined), 5_000).unref();
    try {
      return await templates.whenReady(kind, AbortSignal.any([this.signal, deadline]));
    } catch (error) {
      if (this.signal.aborted) throw error;
      await this.fail('provisioning_timeout', 'The template this agent is made from was not ready in time.');
      return null;
    } finally {
      clearInterval(ticker);
    }
  }

  /** Before the VM goes: its address may be another agent's the moment after, and must not be taken for this one's. */
  private giveUpAddress(): Promise<boolean> {
    return this.observe({ vmAddress: null });
  }

  private deadline(from: Date): AbortSignal {
    const leftMs = from.getTime() + this.deps.provisionTimeoutMs - Date.now();
    return AbortSignal.timeout(Math.max(1, leftMs));
  }

  private observe(facts: Observation): Promise<boolean> {
    return this.deps.store.observe(this.agent.id, this.agent.generation, this.deps.holder, facts);
  }
}

/** VM or runtime failed, as opposed to the store; `cause` is for the log alone. */
class VmStepError extends Error {
  readonly code: StatusReasonCode;
  readonly publicMessage: string;
  constructor(cause: unknown, timedOut: boolean) {
    super('VM step failed', { cause });
    const code = cause instanceof VmError ? cause.code : 'failed';
    if (timedOut || code === 'timeout') {
      this.code = 'provisioning_timeout';
      this.publicMessage = 'The agent did not become ready in time.';
    } else if (code === 'no_capacity') {
      this.code = 'insufficient_capacity';
      this.publicMessage = 'The host has no room for this VM.';
    } else {
      this.code = 'provisioning_failed';
      this.publicMessage = 'The VM or the runtime in it failed to start.';
    }
  }
}
