import type { AgentStatus, StatusReasonCode } from './agent.ts';

/** What is known of an agent when the next step is chosen. */
export interface AgentFacts {
  readonly desired: 'running' | 'deleted';
  readonly status: AgentStatus;
  readonly executionId: string | null;
  /** Reported running once: its disk holds state that must not be lost. */
  readonly acknowledged: boolean;
  /** When its VM died unexpectedly before, any order. */
  readonly crashes: readonly Date[];
}

/** What the host has of the agent's VM. */
export interface VmFacts {
  readonly state: 'running' | 'dead' | 'partial' | 'disk-only';
  readonly executionId: string | null;
}

/**
 * - `clone`: make the VM from the template; nothing of the agent is worth keeping yet.
 * - `boot`: start its own disk cold; `crashed` when that is because its VM died under it.
 * - `fail`: give up until somebody asks again; CPU and memory are freed, the disk is kept.
 */
export type Step =
  | { readonly do: 'nothing' }
  | { readonly do: 'delete' }
  | { readonly do: 'clone' }
  | { readonly do: 'boot'; readonly crashed: boolean }
  | { readonly do: 'fail'; readonly code: StatusReasonCode; readonly message: string };

/** Deaths of the VM this recent count against it. */
export const crashWindowMs = 10 * 60_000;

/** Crashes that still count, oldest first. */
export function recentCrashes(crashes: readonly Date[], now: Date): Date[] {
  return crashes.filter((at) => now.getTime() - at.getTime() < crashWindowMs).sort((a, b) => a.getTime() - b.getTime());
}

/** The one step that brings the host nearer to what is wanted. Pure: the same facts give the same step. */
export function nextStep(agent: AgentFacts, vm: VmFacts | null, now: Date): Step {
  if (agent.desired === 'deleted') return { do: 'delete' };
  switch (agent.status) {
    case 'provisioning':
      return agent.acknowledged ? { do: 'boot', crashed: false } : { do: 'clone' };
    case 'running':
      if (vm?.state === 'running' && vm.executionId === agent.executionId) return { do: 'nothing' };
      if (vm === null) return { do: 'fail', code: 'vm_crashed', message: "The agent's disk is gone from this host." };
      if (recentCrashes(agent.crashes, now).length > 0) {
        return { do: 'fail', code: 'vm_crashed', message: "The agent's VM ended twice within 10 minutes." };
      }
      return { do: 'boot', crashed: true };
    case 'error':
    case 'paused':
    case 'stopped':
      return { do: 'nothing' };
  }
}
