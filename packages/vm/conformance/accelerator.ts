/**
 * The accelerator of a test's machines. If TESTS_ACCELERATOR names one, every VM that is made is checked: one that runs on
 * another fails its test, and the steps of each are printed. Without it the host's choice counts.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Log } from '@lodge/ports';
import type { Accelerator } from '../src/qemu/machine/architecture.ts';
import type { FoundProcess } from '../src/qemu/host/process.ts';

const named = process.env['TESTS_ACCELERATOR'];
if (named !== undefined && named !== 'kvm' && named !== 'tcg') throw new Error(`no accelerator: ${named}`);
export const wantedAccelerator: Accelerator | null = named ?? null;

/** Factor on the bounds of whole suites: a named KVM may be one inside an emulated machine. */
export const patience = wantedAccelerator === 'kvm' ? 6 : 1;

/** The kernel's own answer: a process that runs a machine on KVM has that machine open. */
export function acceleratorOf({ pid }: Pick<FoundProcess, 'pid'>): Accelerator {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).some((fd) => targetOf(`${folder}/${fd}`) === 'anon_inode:kvm-vm') ? 'kvm' : 'tcg';
}

/** Prints the steps of each VM in `dataDir`; throws out of the call that made one on another accelerator. */
export function watchingLog(dataDir: string): Log {
  const nothing = (): void => undefined;
  const quiet = { debug: nothing, info: nothing, warn: nothing, error: nothing };
  if (wantedAccelerator === null) return quiet;
  // Standard output is not free: tests that start a driver in another process read its progress there.
  const print = (fields: object, message: string): void => console.error(`${message} ${JSON.stringify(fields)}`);
  const info = (fields: object, message: string): void => {
    if (message !== 'VM made') return print(fields, message);
    const { agent_id: agentId } = fields as { agent_id: string };
    const accelerator = acceleratorOf(processOf(`${dataDir}/vms/${agentId}/qmp,`));
    print({ accelerator, ...fields }, message);
    if (accelerator !== wantedAccelerator) throw new Error(`${agentId} runs on ${accelerator}`);
  };
  return { ...quiet, info, warn: print };
}

/**
 * Finds the process at once, unlike the driver's own search: the VM exists while its create is running. Its reaper has the
 * socket's path, too.
 */
function processOf(socket: string): Pick<FoundProcess, 'pid'> {
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const line = commandLineOf(pid);
    if (line.startsWith('qemu-system-') && line.includes(`path=${socket}`)) return { pid };
  }
  throw new Error(`no QEMU listens at ${socket}`);
}

function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // The process has ended meanwhile.
    return '';
  }
}

function targetOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // The descriptor was closed meanwhile.
    return '';
  }
}
