/**
 * Steps at whose end an agent runs: `clone`, `boot`, `restore`, and `load` by load.ts. A kill between any two lines leaves this:
 *   - clone: a partial VM, or a whole one that nobody knows of, under an execution the row names or not; the next pass
 *     makes a clone afresh, which supersedes it;
 *   - boot: the row says `provisioning`, the disk is there; the next pass boots it again;
 *   - restore: until its VM is whole, the machine at rest; after that a VM of the execution in the row, which the next pass goes
 *     on with, or the disk of one, which it boots.
 */
import { randomUUID } from 'node:crypto';
import { recentCrashes, sentenceOf, sizes, untilAborted } from '@lodge/domain';
import type { Happening } from '@lodge/domain';
import { restOf, VmError } from '@lodge/ports';
import type { Template, Vm, VmRequest } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import type { Contents } from '@lodge/store/snapshots';
import { guestOf } from '../../agents/guest-of.ts';
import { nothingInstalled, nothingPlaced, templateSettings } from '../../agents/settings.ts';
import { applyBefore, bringIntoEffect } from './apply.ts';
import { fail, keepStopped } from './end.ts';
import { StepFailed } from './pass.ts';
import type { Pass } from './pass.ts';
import { tellDeath, tellFailedStart } from './death.ts';
import { awaitTemplate } from './await-template.ts';
import { contentsOf } from '../../saved/usable.ts';
import { isImportGone, layImport } from '../../saved/portable/lay.ts';
import { hadNoRoom, noMemory, reasonOf } from './reason.ts';
import type { Reason } from './reason.ts';

type From = 'clone' | 'boot' | 'snapshot';

/** Attempts at a start. The second one begins from scratch: a killed emulator is no reason to give up. */
const attempts = 2;
/** How often a vanished template is made again before a create gives up. */
const maxRebuilds = 2;

/** Clones the current template. */
export async function clone(pass: Pass): Promise<void> {
  const { agent, deps } = pass;
  let deadline = AbortSignal.timeout(Math.max(1, begunAt(agent) + deps.bounds.provisionMs - Date.now()));
  let rebuilds = 0;
  for (let attempt = 1; ; attempt += 1) {
    const isThere = deps.templates.current(agent.runtimeKind) !== null;
    const template = await awaitTemplate(pass, deadline);
    if (!template) return;
    // The agent has its full time after the wait for a template.
    if (!isThere) deadline = AbortSignal.timeout(deps.bounds.provisionMs);
    try {
      const start = { from: 'clone', template, deadline } as const;
      await (agent.nextImport === null ? bringUp(pass, start) : bringUpImport(pass, start));
      return;
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error;
      pass.logToOperator('warn', 'clone failed', { err: error.cause, attempt });
      const death = await tellFailedStart(pass, error);
      if (error.isVm('template_missing') && rebuilds < maxRebuilds) {
        rebuilds += 1;
        attempt -= 1;
        deps.templates.lost(agent.runtimeKind, template.id);
        continue;
      }
      if (attempt < attempts && !deadline.aborted) continue;
      const message = isImportGone(error)
        ? 'The file that it was to be imported from is gone.'
        : 'The VM or the runtime in it failed to start.';
      await fail(pass, reasonOf(error, { code: 'provisioning_failed', message }, death));
      return;
    }
  }
}

/** Makes the machine of an imported agent: a clone with the import's folders, booted from its disk. */
async function bringUpImport(pass: Pass, start: Start): Promise<void> {
  const { vm } = await makeVm(pass, start);
  await layImport(pass, start.template, vm, start.deadline);
  await pass.inSlot('cold', () => bringUp(pass, { ...start, from: 'boot' }));
}

/** When the time of a create began to count, in Unix time, ms. The wait for a template does not count. */
function begunAt({ createdAt, operation, statusReason }: AgentRow): number {
  const waited = statusReason?.code === 'waiting_for_template' ? statusReason.at.getTime() : 0;
  return Math.max(createdAt.getTime(), operation?.startedAt.getTime() ?? 0, waited);
}

/** Boots the agent's own disk cold, over the template that it was made from. */
export async function boot(pass: Pass, { crashed }: { readonly crashed: boolean }): Promise<void> {
  await noteBoot(pass, crashed);
  const template = await pass.template();
  if (!template) {
    await fail(pass, { code: 'resume_failed', message: "The template this agent's disk was made from is gone." });
    return;
  }
  const rest = (await isAtRest(pass)) ? ({ saved: restOf(pass.id), isRest: true } as const) : {};
  for (let attempt = 1; ; attempt += 1) {
    try {
      const deadline = AbortSignal.timeout(pass.deps.bounds.provisionMs);
      await pass.inSlot('cold', () => bringUp(pass, { from: 'boot', ...rest, template, deadline }));
      return;
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error;
      pass.logToOperator('warn', 'boot failed', { err: error.cause, attempt });
      const death = await tellFailedStart(pass, error);
      if (attempt < attempts && !error.timedOut && !error.isVm('disk_missing')) continue;
      await fail(pass, reasonOf(error, bootFailure(pass), death));
      return;
    }
  }
}

/** Whether the agent's own disk is that of its machine at rest: a VM that was to take its place and is not whole is nothing. */
async function isAtRest({ deps, vm, id }: Pass): Promise<boolean> {
  if (vm === null || vm.state === 'suspended' || vm.backup !== null) return vm !== null;
  if (vm.state !== 'partial') return false;
  return deps.driver.findSaved(restOf(id)).then(
    (found) => found !== null,
    (error: unknown) => {
      // A damaged one is there, too.
      if (error instanceof VmError) return true;
      throw error;
    },
  );
}

/** Writes into the agent's row that it boots from its disk from here on, and why. */
export async function noteBoot(pass: Pass, crashed: boolean): Promise<void> {
  const { agent } = pass;
  if (crashed) {
    const now = new Date();
    const death = await tellDeath(pass);
    const event: Happening = { type: 'agent.crashed', data: death ? { code: death.code, message: death.message } : {} };
    await pass.observe({
      status: 'provisioning',
      statusReason: { code: 'vm_crashed', message: sentenceOf(event)!, at: now },
      crashes: [...recentCrashes(agent.crashes, now), now],
      vmAddress: null,
      pausedAt: null,
      // An operation on the VM has come to nothing; one that makes the agent run goes on.
      ...(endsWithVm(agent) && { operation: null }),
      event,
    });
    pass.logToOperator('warn', 'VM ended unexpectedly; booting its disk');
    return;
  }
  if (agent.status === 'provisioning') return;
  await pass.observe({
    status: 'provisioning',
    statusReason: null,
    vmAddress: null,
    // A start of an agent that had given up resets its crashes.
    ...(agent.status === 'error' && { crashes: [] }),
    event: { type: 'agent.starting', data: pass.because },
  });
}

/** Whether the operation is one on the VM that ended. */
const endsWithVm = ({ operation }: AgentRow): boolean =>
  operation !== null && ['pause', 'upgrade', 'snapshot'].includes(operation.kind);

function bootFailure({ agent }: Pass): Reason {
  const kind = agent.operation?.kind;
  return kind === 'start' || kind === 'resume'
    ? { code: 'resume_failed', message: 'The agent could not be started from its disk.' }
    : { code: 'provisioning_failed', message: 'The VM or the runtime in it failed to start from its disk.' };
}

/** Starts the machine at rest as the stop left it, or its disk alone when the memory does not load. */
export async function restore(pass: Pass): Promise<void> {
  const template = await pass.template();
  if (template) {
    try {
      const deadline = AbortSignal.timeout(pass.deps.bounds.restoreMs);
      await bringUp(pass, { from: 'snapshot', saved: restOf(pass.id), isRest: true, template, deadline });
      return;
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error;
      pass.logToOperator('warn', 'restore failed', { err: error.cause });
      await tellFailedStart(pass, error);
      if (hadNoRoom(error)) {
        await keepStopped(pass, { code: 'insufficient_capacity', message: 'The host has no room for this VM.' });
        return;
      }
      const event = { type: 'agent.restore_failed', data: noMemory(error) } as const;
      await pass.observe({ status: 'provisioning', vmAddress: null, event });
    }
  }
  await boot(pass, { crashed: false });
}

export interface Start {
  readonly from: From;
  /** The saved machine whose memory or disk it is; without it the disk is the agent's own. */
  readonly saved?: string;
  /** Whether that is the agent's own machine at rest, about which its row is right. */
  readonly isRest?: boolean;
  /** The contents of a saved machine about which another row is right. */
  readonly has?: Contents;
  readonly template: Template;
  readonly deadline: AbortSignal;
}

/** Makes the VM and its runtime ready and writes that the agent runs. Rejects with `StepFailed` when VM or runtime fail. */
export async function bringUp(pass: Pass, start: Start): Promise<void> {
  const { agent, deps } = pass;
  const startedAt = performance.now();
  const { executionId, vm } = await makeVm(pass, start);
  const vmMs = performance.now() - startedAt;
  // The broker must know the agent by its address before the runtime can make its first call.
  await pass.observe({ vmAddress: vm.address });
  if (isOther(start) && !agent.acknowledged) await forgetOther(pass, start, vm);
  await readyRuntime(pass, start, vm);
  const applied = await settingsAfter(pass, start, vm);
  const totalMs = performance.now() - startedAt;
  // The agent runs again because an upgrade or a restore failed; the reason stays readable.
  const code = agent.operation === null ? agent.statusReason?.code : undefined;
  const isBack = code === 'upgrade_failed' || code === 'restore_failed';
  await pass.observe({
    status: 'running',
    statusReason: isBack ? agent.statusReason : null,
    acknowledged: true,
    startedAt: new Date(),
    pausedAt: null,
    stoppedAt: null,
    machine: vm.machine,
    nextFrom: null,
    nextMemory: false,
    operation: null,
    ...(agent.nextImport !== null && { nextImport: null }),
    ...applied,
    egressApplied: agent.egressVersion,
    event: runs(pass, start, vm, totalMs),
  });
  deps.rulesPut.add(agent, executionId);
  const figures = { vm_ms: Math.round(vmMs), total_ms: Math.round(totalMs) };
  deps.log.info({ agent_id: agent.id, execution_id: executionId, from: start.from, ...figures }, 'agent running');
}

/** Whether it is started from a saved machine that is not its own at rest. */
const isOther = ({ saved, isRest = false }: Start): boolean => saved !== undefined && !isRest;

/** The contents of the machine that it is started from. */
const contentsAt = ({ agent }: Pass, start: Start): Contents => (isOther(start) ? contentsOf(start.has) : agent);

/** Takes out of a machine that was another agent's what is that one's alone. After a kill the next pass makes it anew. */
async function forgetOther(pass: Pass, { deadline }: Start, vm: Vm): Promise<void> {
  if (pass.agent.forkedFrom?.browser) return;
  const guest = guestOf(pass.deps.driver, vm);
  await pass.within(deadline, (signal) => pass.runtime.forget(guest, signal));
}

/**
 * Applies the settings after a start. A clone that does not accept its settings has failed: it holds nothing worth keeping
 * yet.
 */
async function settingsAfter(pass: Pass, start: Start, vm: Vm): Promise<{ readonly settingsApplied: string | null }> {
  const { from, template } = start;
  switch (from) {
    case 'clone':
      if (pass.settingsDigest !== templateSettings)
        await bringIntoEffect(pass, guestOf(pass.deps.driver, vm), template.facts);
      return { settingsApplied: pass.settingsDigest };
    case 'boot':
      // The guest's last writes may not have reached its disk.
      return applyBefore(pass, guestOf(pass.deps.driver, vm), null, template.facts);
    case 'snapshot':
      return applyBefore(pass, guestOf(pass.deps.driver, vm), contentsAt(pass, start).settingsApplied, template.facts);
  }
}

async function makeVm(pass: Pass, start: Start): Promise<{ executionId: string; vm: Vm }> {
  const { agent, deps } = pass;
  const { from, saved, isRest = false, template, deadline } = start;
  const { packagesApplied, skillsApplied } = contentsAt(pass, start);
  // A restore that was cut short after its VM was whole is continued: it has taken the place of the machine at rest.
  const isOwn = from === 'snapshot' && isRest;
  const adopted = isOwn && pass.vm?.state === 'running' && pass.vm.executionId === agent.executionId;
  const executionId = adopted ? agent.executionId! : randomUUID();
  const facts = {
    executionId,
    templateId: template.id,
    vmAddress: null,
    host: deps.holder,
    ...(!isOwn && { settingsApplied: null }),
    // A saved machine has what the row said when it was saved, of whatever agent.
    ...(isOther(start) && {
      packagesApplied,
      skillsApplied,
      runtimeVersion: deps.templates.versionOf(template.id) ?? agent.runtimeVersion,
    }),
    // The last writes may not have reached the disk. An agent that never had skills has none there.
    ...(from === 'boot' && skillsApplied !== nothingPlaced && { skillsApplied: null }),
    ...(from === 'clone' && {
      statusReason: null,
      packagesApplied: nothingInstalled,
      skillsApplied: nothingPlaced,
      runtimeVersion: deps.templates.versionOf(template.id) ?? pass.runtime.version,
    }),
  };
  const isLate = from === 'clone' && pass.status !== 'provisioning';
  const late = { status: 'provisioning', event: { type: 'agent.provisioning', data: {} } } as const;
  await pass.observe(isLate ? { ...facts, ...late } : facts);
  const machine = sizes[agent.size];
  const { id: agentId, egress } = agent;
  const source = sourceOf(from, saved);
  const create = async (signal: AbortSignal): Promise<Vm> => {
    const made = await deps.driver.create({ agentId, executionId, machine, template, from: source, egress }, signal);
    // The VM still has the rules that it was made with.
    if (adopted) await deps.driver.setEgress(agentId, egress);
    return made;
  };
  // A boot already has its slot for all of its minutes.
  const vm = await pass.within(deadline, (signal) =>
    from === 'boot' ? create(signal) : pass.inSlot('warm', () => create(signal), signal),
  );
  return { executionId, vm };
}

function sourceOf(from: From, saved: string | undefined): VmRequest['from'] {
  if (saved !== undefined) return { saved, memory: from === 'snapshot' };
  if (from === 'snapshot') throw new Error('a memory is that of a saved machine');
  return from;
}

/** Waits until the runtime is ready. The VM's end ends the wait, because its guest would never answer. */
export async function readyRuntime(pass: Pass, { from, template, deadline }: Start, vm: Vm): Promise<void> {
  const { runtime, settings, deps } = pass;
  const ended = new AbortController();
  const unsubscribe = deps.driver.onExit(({ executionId }) => {
    if (executionId === vm.executionId) ended.abort(new VmError('gone', 'the VM ended while its runtime started'));
  });
  try {
    await pass.within(deadline, async (outer) => {
      const signal = AbortSignal.any([outer, ended.signal]);
      const facts = vm.facts ?? template.facts;
      const guest = guestOf(deps.driver, vm);
      const ready =
        from === 'boot'
          ? runtime.awaitBoot(guest, facts, settings, signal)
          : runtime.resume(guest, facts, settings, signal);
      await untilAborted(ready, ended.signal);
    });
  } finally {
    unsubscribe();
  }
}

function runs({ agent, because }: Pass, start: Start, { machine }: Vm, ms: number): Happening {
  const { vcpus, memoryMib: memory_mib } = machine;
  if (start.saved !== undefined && isOther(start) && agent.operation?.kind === 'restore') {
    const loaded = start.from === 'snapshot' ? ('memory' as const) : ('disk' as const);
    const data = { ...because, snapshot_id: start.saved, loaded, duration_ms: Math.round(ms) };
    return { type: 'agent.restored', data };
  }
  const from = !isOther(start) ? start.from : start.from === 'snapshot' ? 'saved_memory' : 'saved_disk';
  return { type: runType(agent), data: { from, ...because, duration_ms: Math.round(ms), vcpus, memory_mib } };
}

/**
 * The kind of start, by the agent's earlier state. An operation that nobody requested, or none at all, means recovery from a
 * failure.
 */
function runType({ acknowledged, operation, status }: AgentRow) {
  if (!acknowledged) return 'agent.provisioned';
  if (operation === null || operation.cause === 'health' || status === 'error') return 'agent.recovered';
  return operation.kind === 'restart' ? 'agent.restarted' : 'agent.started';
}
