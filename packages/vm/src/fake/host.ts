/**
 * A host that exists in memory only, for tests of what drives VMs: it outlives the drivers over it, as a real host
 * outlives its control plane, and goes wrong where it is told to.
 */
import { VmError } from '@lodge/engine/ports';
import type { Machine, Template, VmErrorCode, VmRequest } from '@lodge/engine/ports';

/** What a create goes through, in order. Killed before one of them, a driver leaves a partial VM. */
export const fakeSteps = ['disk', 'start', 'daemon', 'machine'] as const;
export type FakeStep = (typeof fakeSteps)[number];

/** What happens at a step: resolves to go on, rejects to fail. Ends early when the signal fires. */
export type FakeBehaviour = (step: FakeStep, request: VmRequest, signal: AbortSignal) => Promise<void>;

/** A guest: files survive a boot, memory does not. */
export interface FakeGuest {
  readonly files: Map<string, string>;
  readonly memory: Map<string, string>;
}

export interface FakeVm {
  readonly agentId: string;
  executionId: string;
  phase: 'creating' | 'running' | 'disk';
  alive: boolean;
  address: string | null;
  machine: Machine;
  guest: FakeGuest;
}

export interface FakeTemplate extends Template {
  readonly guest: FakeGuest;
}

export class FakeHost {
  readonly brokerHost = '192.0.2.1';
  readonly vms = new Map<string, FakeVm>();
  /** Guests of templates that are being made. */
  readonly builds = new Set<FakeVm>();
  readonly templates = new Map<string, FakeTemplate>();
  readonly exits = new Set<(exit: { agentId: string; executionId: string }) => void>();
  memory = { totalMib: 65_536, availableMib: 60_000 };
  behaviour: FakeBehaviour = () => Promise.resolve();
  private nextAddress = 2;

  /** The guest behind an address; null when no VM runs there. */
  guestAt(address: string): FakeVm | null {
    return [...this.vms.values(), ...this.builds].find((vm) => vm.address === address && vm.alive) ?? null;
  }

  /** Ends a VM's process from outside. */
  kill(agentId: string): void {
    const vm = this.vms.get(agentId);
    if (!vm?.alive) return;
    vm.alive = false;
    if (vm.phase !== 'running') return;
    for (const listener of this.exits) listener({ agentId, executionId: vm.executionId });
  }

  newAddress(): string {
    this.nextAddress += 1;
    return `198.51.100.${this.nextAddress % 250}`;
  }
}

export function copyOf(guest: FakeGuest): FakeGuest {
  return { files: new Map(guest.files), memory: new Map(guest.memory) };
}

/** Creates fail at `step`, the first `times` of them. */
export function failAt(step: FakeStep, code: VmErrorCode = 'failed', times = Infinity): FakeBehaviour {
  let left = times;
  return async (at) => {
    if (at !== step || left <= 0) return;
    left -= 1;
    throw new VmError(code, `told to fail at ${step}`);
  };
}

/** Creates stand still at `step` until they are given up. */
export function hangAt(step: FakeStep): FakeBehaviour {
  return (at, _request, signal) => (at === step ? untilAborted(signal) : Promise.resolve());
}

/** Every step takes so long. */
export function slow(stepMs: number): FakeBehaviour {
  return (_step, _request, signal) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, stepMs);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      });
    });
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
}
