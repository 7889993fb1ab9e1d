import type { Accelerator } from './architecture.ts';
import { translationMib } from './command-line.ts';

/**
 * The group that may read templates. Its id lies behind the 16,384 user ids that VMs have by default. Unlike theirs it is
 * the same for every Lodge of a host, because they share one cache.
 */
export const templateGid = 2_000_100_000;

export interface Confinement {
  /** Also the process' group: no two running VMs share either. */
  readonly uid: number;
  readonly groups: readonly number[];
  /** Path of the network namespace; null stays in the host's, for a guest without a network. */
  readonly namespace: string | null;
  /** Longest file that it may write, in bytes; null for no bound. */
  readonly fileSizeLimit: number | null;
  /** Whether it ends with the process that started it. */
  readonly dieWithParent: boolean;
}

/**
 * Puts a command into its namespace and takes every privilege from it. Each step is an exec: the process keeps its pid, and
 * its command line names its final program from the start.
 */
export function confine(command: readonly string[], to: Confinement): string[] {
  const limits = ['--core=0', ...(to.fileSizeLimit === null ? [] : [`--fsize=${to.fileSizeLimit}`])];
  const privileges = [
    `--reuid=${to.uid}`,
    `--regid=${to.uid}`,
    to.groups.length > 0 ? `--groups=${to.groups.join(',')}` : '--clear-groups',
    '--no-new-privs',
    '--inh-caps=-all',
    '--bounding-set=-all',
    ...(to.dieWithParent ? ['--pdeathsig=KILL'] : []),
  ];
  return [
    to.namespace === null ? [] : ['nsenter', `--net=${to.namespace}`, '--'],
    ['prlimit', ...limits, '--'],
    ['setpriv', ...privileges, '--'],
    command,
  ].flat();
}

/** The largest size of a VM's disk file: the disk's size and the qcow2 format's own tables. */
export function diskFileLimit(diskBytes: number): number {
  return diskBytes + Math.ceil(diskBytes / 128) + 64 * 1024 * 1024;
}

/** Memory of a QEMU process beside the guest's, in MiB: its own, and under emulation the translated code. */
export function overheadMib(accelerator: Accelerator): number {
  return accelerator === 'tcg' ? translationMib + 512 : 384;
}
