/**
 * The least that a create can cost: namespace, overlay and QEMU clone, without record, limits or greeting. Benchmarks
 * compare the whole driver with it.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { publicEgress } from '@lodge/domain';
import type { Template } from '@lodge/ports';
import { bootMemoryMib, bootVcpus } from './machine/command-line.ts';
import type { QemuDriverOptions } from './options.ts';
import { kill } from './host/process.ts';
import { RunDirectory } from './saved/run-directory.ts';
import { VmNumbers } from './host/vm-numbers.ts';
import { Templates } from './lifecycle/templates.ts';
import { startVm } from './lifecycle/vm-start.ts';

export interface BareClone {
  readonly address: string;
  readonly pid: number;
  /** Milliseconds until the processors run, and of each step. */
  readonly timings: Readonly<Record<string, number>>;
  /** Executes QMP's `stop` and `cont`, and nothing else. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  remove(): Promise<void>;
}

const noCgroups = {
  missing: [],
  weigh: () => Promise.resolve(),
  createYielding: () => Promise.resolve(),
  create: () => Promise.resolve(),
  limit: () => Promise.resolve(),
  add: () => Promise.resolve(),
  pageOut: () => Promise.resolve(),
  outOfMemoryKill: () => Promise.resolve(false),
  remove: () => Promise.resolve(),
  names: () => Promise.resolve([]),
  close: () => Promise.resolve(),
};

/**
 * Clones bare VMs of the size that every template has. The options' data folder, instance and range must not belong to a
 * driver.
 */
export function bareCloner(options: QemuDriverOptions): (template: Template) => Promise<BareClone> {
  const slots = new VmNumbers(options.network.maxSlots);
  const templates = new Templates(options, slots);
  const machine = { vcpus: bootVcpus, memoryMib: bootMemoryMib, diskGib: 10 };
  return async ({ id }) => {
    const template = await templates.startable(id, 'clone');
    const host = await templates.vmHost(template, noCgroups);
    const started = performance.now();
    const slot = slots.claim();
    const directory = new RunDirectory(join(options.dataDir, 'floor'), `c${slot}`);
    await mkdir(directory.path, { recursive: true });
    const source = { from: 'clone' } as const;
    const browser = template.hasBrowser ? { file: null } : null;
    const egress = publicEgress;
    const credential = '';
    const about = { machine, template, source, browser, egress, credential };
    const plan = { directory, slot, uid: options.uidBase + slot, ...about };
    const vm = await startVm(host, { ...plan, onSpawned: () => Promise.resolve() }, new AbortController().signal);
    return {
      address: vm.namespace.guestAddress,
      pid: vm.process.pid,
      timings: { ...vm.timings, total: Math.round(performance.now() - started) },
      async freeze() {
        await vm.qmp.execute('stop');
      },
      async thaw() {
        await vm.qmp.execute('cont');
      },
      async remove() {
        vm.qmp.close();
        await kill(vm.process);
        await options.network.removeNamespace(slot);
        await directory.remove();
        slots.release(slot);
      },
    };
  };
}
