import type { VmObservation } from '@lodge/ports';
import { EmulatorLog } from '../machine/emulator-log.ts';
import { BrokenEmulatorError, Qmp } from '../machine/qmp.ts';
import type { Watched } from '../machine/watch.ts';
import { awaitExit, isAlive, kill } from '../host/process.ts';
import type { RunDirectory } from '../saved/run-directory.ts';

/**
 * A running emulator answers in a millisecond, on a slow and busy host in a second; one that needs longer than this is
 * stuck.
 */
const answerTimeoutMs = 10_000;
/** Time between the ends of connection and process: the emulator only frees its memory and closes its other files. */
const exitTimeoutMs = 10_000;

/** The watch's connections to emulators, made anew where they were lost. */
export class Connections {
  private readonly directory: (agentId: string) => RunDirectory;
  private readonly underway = new Map<Watched, Promise<Qmp>>();

  constructor(directory: (agentId: string) => RunDirectory) {
    this.directory = directory;
  }

  async of(vm: Watched): Promise<Qmp> {
    if (vm.qmp?.isOpen) return vm.qmp;
    const wait = { timeoutMs: answerTimeoutMs, alive: () => isAlive(vm.process) };
    // QEMU serves one client at a time: a second one would wait in vain.
    const underway = this.underway.get(vm) ?? attended(vm, connect(this.directory(vm.agentId), wait));
    this.underway.set(vm, underway);
    try {
      vm.qmp = await underway;
      return vm.qmp;
    } catch (error) {
      // From then on the watch does this.
      if (error instanceof BrokenEmulatorError) await kill(vm.process);
      throw error;
    } finally {
      this.underway.delete(vm);
    }
  }
}

async function connect({ qmpSocket, log }: RunDirectory, wait: Parameters<typeof Qmp.connect>[1]): Promise<Qmp> {
  const qmp = await Qmp.connect(qmpSocket, wait);
  (await EmulatorLog.find(log))?.follow(qmp);
  return qmp;
}

/** An emulator whose guest ended while nobody looked has waited for a connection. */
async function attended(vm: Watched, connecting: Promise<Qmp>): Promise<Qmp> {
  const qmp = await connecting;
  try {
    await vm.witness.attend(qmp, vm.process);
    await vm.witness.endIfOver({ qmp, process: vm.process }, (await runState(qmp)).status);
    return qmp;
  } catch (error) {
    qmp.close();
    throw error;
  }
}

export interface RunState {
  readonly running: boolean;
  /**
   * QEMU's own state. It stands still not only when `paused`: also on a full disk (`io-error`), and after its guest's end.
   */
  readonly status: string;
}

export function runState(qmp: Qmp): Promise<RunState> {
  return qmp.execute<RunState>('query-status', {}, { timeoutMs: answerTimeoutMs });
}

export type LivingState = Pick<VmObservation, 'state' | 'halted'>;

/** The state that the emulator of a living VM reports. Rejects if it does not answer, or ends meanwhile. */
export async function askState(connections: Connections, vm: Watched): Promise<LivingState> {
  try {
    const qmp = await connections.of(vm);
    const { running, status } = await runState(qmp);
    if (running) return { state: 'running' };
    if (await vm.witness.endIfOver({ qmp, process: vm.process }, status)) return { state: 'dead' };
    // A write found no room; other failures are the guest's own trouble.
    return status === 'io-error' ? { state: 'paused', halted: 'host_disk_full' } : { state: 'paused' };
  } catch (error) {
    await awaitEnding(vm);
    throw error;
  }
}

/** A killed process closes its connection, also a new one, before it counts as ended. */
export async function awaitEnding({ process, qmp }: Watched, signal?: AbortSignal): Promise<void> {
  if (qmp?.isOpen === false) await awaitExit(process, exitTimeoutMs, signal).catch(() => undefined);
}
