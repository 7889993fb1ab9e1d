/** Data of a fake host's VMs, and how they begin. */
import { createHash } from 'node:crypto';
import { publicEgress } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import type { CarriedData, Saving, TemplateRequest, Vm, VmObservation, VmRequest } from '@lodge/ports';
import type { FakeGuest, FakeSaved, FakeVm } from './host.ts';

/** The part of a VM that is left. */
export type Keep = 'nothing' | 'disk';

export function newVm(
  { agentId, executionId, machine, egress = publicEgress }: Omit<VmRequest, 'template' | 'from'>,
  template: string,
  guest: FakeGuest,
): FakeVm {
  const blank = {
    alive: false,
    paused: false,
    address: null,
    credential: null,
    facts: null,
    loading: null,
    overRest: false,
    console: '',
    death: null,
    halted: null,
    silent: null,
    seesBrowser: false,
    still: false,
    refused: [],
  };
  return { ...blank, egress, agentId, executionId, phase: 'creating', machine, templateId: template, guest };
}

/** The part that a start needs. */
export const keptBy = (from: VmRequest['from']): Keep => (from === 'boot' ? 'disk' : 'nothing');

export function templateId({ image, variant }: TemplateRequest): string {
  return createHash('sha256').update(`${image.id}\n${variant}`).digest('hex').slice(0, 16);
}

/** Returns the VM if its emulator answers; rejects like a call without an answer. */
export function answering(vm: FakeVm): FakeVm {
  if (vm.silent !== null) throw new VmError('timeout', vm.silent);
  return vm;
}

export function asVm({ agentId, executionId, address, machine, facts }: FakeVm): Vm {
  return { agentId, executionId, address: address!, machine, facts };
}

/** Every byte counts as one. */
export function savingOf({ files, memory }: Pick<FakeSaved, 'files' | 'memory'>): Saving {
  const bytesOf = (texts: ReadonlyMap<string, string>): number =>
    [...texts].reduce((sum, [name, text]) => sum + name.length + text.length, 1);
  return { bytes: memory === null ? 0 : bytesOf(memory), diskBytes: bytesOf(files), ms: 1 };
}

/** A fake guest's files have plain names; its folders are those that would hold them. */
export function filesOf(guest: FakeGuest, data: CarriedData): Map<string, string> {
  const isCarried = (name: string): boolean => data.folders.some((folder) => isBelow(name, folder));
  return new Map([...guest.files].filter(([name]) => isCarried(name) && !isExcept(name, data)));
}

export const isExcept = (name: string, { except }: CarriedData): boolean => except.some((path) => isBelow(name, path));
const isBelow = (name: string, path: string): boolean => `/${name}`.startsWith(path);

export function observe({
  agentId,
  executionId,
  phase,
  alive,
  paused,
  halted,
  silent,
  address,
}: FakeVm): Omit<VmObservation, 'backup'> {
  const state = (): VmObservation['state'] => {
    if (phase === 'disk') return 'disk-only';
    if (phase === 'creating') return 'partial';
    if (!alive) return 'dead';
    if (silent !== null) return 'unresponsive';
    return paused ? 'paused' : 'running';
  };
  return {
    agentId,
    executionId,
    state: state(),
    address,
    ...(silent === null ? halted && { halted } : { why: silent }),
  };
}
