import type { BrowserDiskBuilder, Log } from '@lodge/ports';
import type { Accelerator } from './machine/architecture.ts';
import type { HostNetwork } from './network/index.ts';

export interface QemuDriverOptions {
  /** Run directories lie in `vms` below it. Absolute, without a comma; VMs' users must be able to pass every folder above. */
  readonly dataDir: string;
  /** Templates, shared by every Lodge of this host. The rules of `dataDir` hold. */
  readonly cacheDir: string;
  /** 1..8 characters a-z and 0-9: tells this Lodge's namespaces, processes and control groups from others' on the host. */
  readonly instance: string;
  readonly network: HostNetwork;
  /** Port of the LLM broker at the network's `brokerHost`. */
  readonly brokerPort: number;
  /** Mbit/s each way that a VM has beyond the host for each of its processors; default: no bound. */
  readonly mbitPerVcpu?: number | null;
  readonly accelerator: 'auto' | Accelerator;
  /** Builds the disk of the browser when the first VM is to see it. Default: no VM ever does. */
  readonly browserDisk?: BrowserDiskBuilder;
  /** Factor on the rates of `machine/disk-rate.ts`; 0 sets no bound. Default 1. */
  readonly diskRateFactor?: number;
  /** Whether VMs may run where the kernel does not bind their memory. Default `refuse`. */
  readonly unboundMemory?: 'refuse' | 'allow';
  /** Length of a pause after which a VM is paged out where the host has swap, ms; 0: never. Default 0. */
  readonly pageOutAfterMs?: number;
  /** Size of the swap in compressed memory that is set up where the host has no swap, MiB; 0: none. Default 0. */
  readonly zramMib?: number;
  /** Free space on the disk below which no large write begins, MiB: the archive of an upgrade, a template. */
  readonly diskFloorMib: number;
  /** First of the user ids that VMs run as, one for each of the network's slots. */
  readonly uidBase: number;
  readonly log: Log;
}
