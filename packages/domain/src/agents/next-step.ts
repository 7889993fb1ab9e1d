import type { AgentStatus, StatusReasonCode } from './agent.ts';
import type { Operation } from './operation.ts';
import { sizes } from './capacity.ts';
import type { SizeName } from './capacity.ts';
import type { VmDeathCode } from './vm-death.ts';

/** The facts about an agent from which the next step is chosen. */
export interface AgentFacts {
  readonly desired: 'running' | 'deleted';
  readonly status: AgentStatus;
  readonly operation: Pick<Operation, 'kind' | 'cause'> | null;
  readonly executionId: string | null;
  /** Whether it was reported running once. From then on its disk holds state that must not be lost. */
  readonly acknowledged: boolean;
  /** The saved machine that its next start begins from instead of its own disk, or null. */
  readonly nextFrom: string | null;
  /** The saved machine that it is to go back to once its present one is saved, or null. */
  readonly restoreTo: string | null;
  /** Times, in any order, at which its VM died unexpectedly or was ended because its gateway did not answer. */
  readonly crashes: readonly Date[];
  readonly size: SizeName;
  /** The present machine; null before its first run. */
  readonly machine: { readonly vcpus: number; readonly memoryMib: number } | null;
  /** Whether the wanted settings are in effect in its guest. */
  readonly settingsFit: boolean;
  /** Whether nothing is to be done about its packages: they are there, or are being installed, or wait for another try. */
  readonly packagesFit: boolean;
  /** Whether the wanted skills are in its guest, or wait for another try. */
  readonly skillsFit: boolean;
  /** Whether its guest sees the browser's disk, if it wants a browser, or waits for the disk. */
  readonly browserFit: boolean;
  /** Whether the wanted egress rules are known to be on its machine's network. */
  readonly egressFit: boolean;
  /** The trouble that the last look into the guest found, or null. */
  readonly trouble: 'out_of_memory' | 'disk_full' | null;
}

/** The host's state of the agent's VM. */
export interface VmFacts {
  readonly state: 'running' | 'paused' | 'unresponsive' | 'dead' | 'partial' | 'disk-only' | 'suspended';
  readonly executionId: string | null;
  /** The execution of the machine at rest while another VM is in its place; null when none is. */
  readonly backup: string | null;
  /** The reason why a VM that nobody paused is `paused`. */
  readonly halted?: VmDeathCode;
}

/**
 * A step of the reconcile loop.
 *
 * - `clone`: make the VM from the template; nothing of the agent is worth keeping yet.
 * - `boot`: start its own disk cold; `crashed` when its VM died.
 * - `restore`: start its machine at rest.
 * - `load`: start it from the saved machine that its row names, whatever it has of its own.
 * - `freeze`, `thaw`: stop and resume its vCPUs; `halted` when they stand still already because the host's disk is full.
 * - `suspend`: stop the agent; disk and memory are kept together, everything else is freed.
 * - `restart`: end the machine in good order and start its disk cold; `unhealthy` when its gateway made it necessary.
 * - `save`: save the machine as it is; the agent stays as it was.
 * - `go-back`: save the present machine, and name the one to go back to as the next to start from.
 * - `upgrade`: save the VM to rest, and make another from the newest template in its place.
 * - `roll-back`: start the machine at rest, because the upgrade failed.
 * - `drop-backup`: free the machine at rest, because another VM has taken its place.
 * - `free`: end the rest of the machine and keep the disk; the agent is then `status`.
 * - `record-status`: update the row, because host and wish agree already.
 * - `restrict`: apply the row's egress rules to the network of the machine, which runs or is frozen.
 * - `show-browser`: show the browser's disk to the running guest, and have it built where it is not there.
 * - `apply`: apply the row's settings in the running guest.
 * - `place-skills`: bring the wanted skills into the running guest.
 * - `install`: begin to install the row's packages in the running guest, or record how that has ended.
 * - `resize`: give the running machine the requested size.
 * - `fail`: give up until somebody asks again; CPU and memory are freed, the disk is kept.
 */
export type Step =
  | { readonly do: 'nothing' }
  | { readonly do: 'delete' }
  | { readonly do: 'clone' }
  | { readonly do: 'boot'; readonly crashed: boolean }
  | { readonly do: 'restore' }
  | { readonly do: 'load' }
  | { readonly do: 'freeze'; readonly halted?: true }
  | { readonly do: 'thaw' }
  | { readonly do: 'suspend' }
  | { readonly do: 'restart'; readonly unhealthy: boolean }
  | { readonly do: 'save' }
  | { readonly do: 'go-back' }
  | { readonly do: 'upgrade' }
  | { readonly do: 'roll-back' }
  | { readonly do: 'drop-backup' }
  | { readonly do: 'free'; readonly status: 'stopped' | 'error' }
  | { readonly do: 'record-status'; readonly status: AgentStatus }
  | { readonly do: 'restrict' }
  | { readonly do: 'show-browser' }
  | { readonly do: 'apply' }
  | { readonly do: 'place-skills' }
  | { readonly do: 'install' }
  | { readonly do: 'resize' }
  | { readonly do: 'fail'; readonly code: StatusReasonCode; readonly message: string };

/** The window in which deaths of the VM count. */
export const crashWindowMs = 10 * 60_000;

/** Returns the crashes that still count, oldest first. */
export function recentCrashes(crashes: readonly Date[], now: Date): Date[] {
  return crashes.filter((at) => now.getTime() - at.getTime() < crashWindowMs).sort((a, b) => a.getTime() - b.getTime());
}

/** Returns the one step that brings the host nearer to the wanted state. Pure: the same facts give the same step. */
export function nextStep(agent: AgentFacts, vm: VmFacts | null, now: Date): Step {
  if (agent.desired === 'deleted') return { do: 'delete' };
  if (vm !== null && vm.backup !== null) {
    // The copy whose execution the row names is the agent.
    if (vm.backup !== agent.executionId) return { do: 'drop-backup' };
    return { do: agent.operation?.kind === 'upgrade' ? 'upgrade' : 'roll-back' };
  }
  // Its VM is at rest, and no other is in its place yet.
  if (agent.operation?.kind === 'upgrade' && vm?.state === 'suspended') return { do: 'upgrade' };
  const step = towardsWanted(agent, vm, now);
  return awaitsAnswer(agent, vm, step) ? { do: 'nothing' } : step;
}

function towardsWanted(agent: AgentFacts, vm: VmFacts | null, now: Date): Step {
  switch (agent.operation?.kind) {
    case undefined:
      return stayAsIs(agent, vm, now);
    case 'start':
    case 'resume':
      return towardsRunning(agent, vm, now);
    case 'pause':
      return towardsPaused(agent, vm, now);
    case 'stop':
      return towardsStopped(agent, vm);
    case 'restart':
      return towardsRestarted(agent, vm, now);
    case 'upgrade':
      return towardsUpgraded(agent, vm, now);
    case 'snapshot':
      return towardsSaved(agent, vm, now);
    case 'restore':
      return towardsRestored(agent);
  }
}

/** Returns the step that keeps the host as the status says, while no operation is in progress. */
function stayAsIs(agent: AgentFacts, vm: VmFacts | null, now: Date): Step {
  const own = ownState(agent, vm);
  switch (agent.status) {
    case 'provisioning':
      // After a rolled back upgrade it was not started yet.
      if (agent.nextFrom === null && agent.acknowledged && vm?.state === 'suspended') return { do: 'restore' };
      return begin(agent);
    case 'running':
      if (own === 'running') return improve(agent);
      // It would stand still again at the same write.
      if (own === 'paused' && vm?.halted === 'host_disk_full') return { do: 'freeze', halted: true };
      // The hypervisor, or an interrupted stop, froze it.
      if (own === 'paused') return { do: 'thaw' };
      if (own === 'suspended') return { do: 'restore' };
      return afterDeath(agent, vm, now);
    case 'paused':
      if (own === 'paused') return { do: agent.egressFit ? 'nothing' : 'restrict' };
      if (own === 'running') return { do: 'freeze' };
      if (own === 'suspended') return { do: 'record-status', status: 'stopped' };
      return afterDeath(agent, vm, now);
    case 'stopped':
    case 'error':
      // Neither status may hold CPU or memory.
      return holdsMachine(vm) ? { do: 'free', status: agent.status } : { do: 'nothing' };
  }
}

/** Returns the remaining step for a running machine. */
function improve(agent: AgentFacts): Step {
  if (!agent.egressFit) return { do: 'restrict' };
  if (!agent.browserFit) return { do: 'show-browser' };
  if (!agent.settingsFit) return { do: 'apply' };
  if (!agent.skillsFit) return { do: 'place-skills' };
  if (!agent.packagesFit) return { do: 'install' };
  return isAsAsked(agent) ? { do: 'nothing' } : { do: 'resize' };
}

function towardsRunning(agent: AgentFacts, vm: VmFacts | null, now: Date): Step {
  switch (agent.status) {
    case 'running':
      return { do: 'record-status', status: 'running' };
    case 'provisioning':
    case 'error':
      return begin(agent);
    case 'paused': {
      const own = ownState(agent, vm);
      if (own === 'paused' || own === 'running') return { do: 'thaw' };
      return own === 'suspended' ? { do: 'restore' } : afterDeath(agent, vm, now);
    }
    case 'stopped':
      if (!agent.acknowledged || agent.nextFrom !== null) return begin(agent);
      if (vm === null) return diskGone;
      // An interrupted restore is repeated while there is more than a disk.
      return vm.state === 'disk-only' || vm.state === 'dead' ? { do: 'boot', crashed: false } : { do: 'restore' };
  }
}

function towardsPaused(agent: AgentFacts, vm: VmFacts | null, now: Date): Step {
  if (agent.status !== 'running') return { do: 'record-status', status: agent.status };
  const own = ownState(agent, vm);
  if (own === 'running' || own === 'paused') return { do: 'freeze' };
  return own === 'suspended' ? { do: 'record-status', status: 'stopped' } : afterDeath(agent, vm, now);
}

function towardsStopped(agent: AgentFacts, vm: VmFacts | null): Step {
  switch (agent.status) {
    case 'provisioning':
    case 'stopped':
      return { do: 'record-status', status: agent.status };
    case 'error':
      return { do: 'free', status: 'stopped' };
    case 'running':
    case 'paused': {
      const own = ownState(agent, vm);
      if (own === 'suspended') return { do: 'record-status', status: 'stopped' };
      if (own === 'running' || own === 'paused') return { do: 'suspend' };
      // It died while it was about to end. A stop must leave its disk, and that is there.
      return vm === null ? diskGone : { do: 'free', status: 'stopped' };
    }
  }
}

function towardsRestarted(agent: AgentFacts, vm: VmFacts | null, now: Date): Step {
  switch (agent.status) {
    case 'provisioning':
    case 'error':
      return begin(agent);
    case 'stopped':
      return { do: 'record-status', status: 'stopped' };
    case 'running':
    case 'paused': {
      if (vm === null) return diskGone;
      const unhealthy = agent.operation?.cause === 'health';
      if (unhealthy && recentCrashes(agent.crashes, now).length > 0) return gaveUpOnGateway(agent);
      return { do: 'restart', unhealthy };
    }
  }
}

function towardsUpgraded(agent: AgentFacts, vm: VmFacts | null, now: Date): Step {
  if (agent.status !== 'running' && agent.status !== 'paused') return { do: 'record-status', status: agent.status };
  const own = ownState(agent, vm);
  if (own === 'running' || own === 'paused') return { do: 'upgrade' };
  return afterDeath(agent, vm, now);
}

function towardsSaved(agent: AgentFacts, vm: VmFacts | null, now: Date): Step {
  switch (agent.status) {
    case 'provisioning':
      return { do: 'record-status', status: agent.status };
    case 'running':
    case 'paused': {
      const own = ownState(agent, vm);
      if (own === 'running' || own === 'paused' || own === 'suspended') return { do: 'save' };
      return afterDeath(agent, vm, now);
    }
    case 'stopped':
    case 'error':
      return { do: 'save' };
  }
}

/** A machine that died, or never ran, is gone back from like any other. */
function towardsRestored(agent: AgentFacts): Step {
  if (agent.restoreTo !== null && agent.status !== 'provisioning') return { do: 'go-back' };
  return agent.nextFrom === null ? { do: 'record-status', status: agent.status } : { do: 'load' };
}

function begin(agent: AgentFacts): Step {
  if (agent.nextFrom !== null) return { do: 'load' };
  return agent.acknowledged ? { do: 'boot', crashed: false } : { do: 'clone' };
}

const diskGone: Step = { do: 'fail', code: 'vm_crashed', message: "The agent's disk is gone from this host." };

/**
 * Returns the step for a VM that should run and does not. Its disk is started once; after two deaths within the window a
 * person has to look.
 */
function afterDeath(agent: AgentFacts, vm: VmFacts | null, now: Date): Step {
  if (vm === null) return diskGone;
  if (recentCrashes(agent.crashes, now).length === 0) return { do: 'boot', crashed: true };
  switch (agent.trouble) {
    case 'out_of_memory':
      return { do: 'fail', code: 'out_of_memory', message: 'The agent ran out of memory twice within 10 minutes.' };
    case 'disk_full':
      return { do: 'fail', code: 'disk_full', message: "The agent's disk is full." };
    case null:
      return { do: 'fail', code: 'vm_crashed', message: "The agent's VM ended twice within 10 minutes." };
  }
}

function gaveUpOnGateway({ trouble }: AgentFacts): Step {
  switch (trouble) {
    case 'out_of_memory':
      return { do: 'fail', code: trouble, message: 'The agent has too little memory: its gateway was ended for it.' };
    case 'disk_full':
      return { do: 'fail', code: trouble, message: "The agent's disk is full, and its gateway does not answer." };
    case null:
      return {
        do: 'fail',
        code: 'gateway_unhealthy',
        message: "The agent's gateway did not answer, and a restart within the last 10 minutes did not help.",
      };
  }
}

/**
 * Returns the state of the incarnation that the row names. Data of another incarnation is not the agent's. A snapshot
 * outlives its incarnation.
 */
function ownState(agent: AgentFacts, vm: VmFacts | null): VmFacts['state'] | null {
  if (vm === null) return null;
  return vm.state === 'suspended' || vm.executionId === agent.executionId ? vm.state : null;
}

/**
 * Whether the step must wait because the agent's own VM lives and does not say whether it runs. Nothing is decided about it
 * until it answers or ends. A restart ends it, and the supervision of gateways asks for one. An agent in `error` does not
 * wait.
 */
function awaitsAnswer(agent: AgentFacts, vm: VmFacts | null, step: Step): boolean {
  if (ownState(agent, vm) !== 'unresponsive' || agent.operation?.kind === 'restart') return false;
  if (agent.status === 'stopped') return step.do === 'restore';
  return (agent.status === 'running' || agent.status === 'paused') && step.do !== 'record-status';
}

function holdsMachine(vm: VmFacts | null): boolean {
  return vm !== null && vm.state !== 'disk-only' && vm.state !== 'suspended';
}

function isAsAsked({ size, machine }: AgentFacts): boolean {
  return machine === null || (machine.vcpus === sizes[size].vcpus && machine.memoryMib === sizes[size].memoryMib);
}
