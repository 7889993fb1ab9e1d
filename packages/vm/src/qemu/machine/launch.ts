/** From a command line to a machine that is loaded, sized and still stopped. */
import { open } from 'node:fs/promises';
import { sentenceOfDeath } from '@lodge/domain';
import { GuestError } from '@lodge/guest';
import { VmError } from '@lodge/ports';
import { qemuCommandLine } from './command-line.ts';
import type { CommandLine } from './command-line.ts';
import { confine } from './confinement.ts';
import { EmulatorLog } from './emulator-log.ts';
import type { Confinement } from './confinement.ts';
import { awaitExit, isAlive, spawnDetached } from '../host/process.ts';
import type { ProcessMark } from '../host/process.ts';
import { spawnReaped } from '../host/reaper.ts';
import type { Reaped } from '../host/reaper.ts';
import { Qmp } from './qmp.ts';
import type { RunDirectory } from '../saved/run-directory.ts';
import { Witness } from './witness.ts';
import { allSettledOrThrow, toVmError, until } from '../../waiting.ts';

export interface Launch {
  readonly directory: RunDirectory;
  readonly line: Omit<CommandLine, 'qmpSocket' | 'incoming'>;
  readonly confinement: Confinement;
  /** Device state to load; null boots. */
  readonly devices: string | null;
  /** Called before the device state is loaded: lays the memory's contents. */
  readonly beforeLoad?: (machine: LaunchedMachine) => Promise<void>;
  /** Called as soon as there is a process, and awaited before the first QMP command. */
  readonly onSpawned: (process: Spawned) => Promise<void>;
  /** Whether the kernel killed in its group for lack of memory. Default: unknown. */
  readonly outOfMemoryKill?: () => Promise<boolean>;
}

/** A process that outlives this one has its reaper. */
export type Spawned = ProcessMark & Partial<Pick<Reaped, 'reaperPid'>>;

export interface LaunchedMachine {
  readonly process: ProcessMark;
  /** Nothing of the guest has run yet: `cont` starts it. */
  readonly qmp: Qmp;
  readonly witness: Witness;
}

/** QEMU is up in a tenth of a second; a slow host under load is given this long. Its end ends the wait. */
const startTimeoutMs = 120_000;
const loadTimeoutMs = 120_000;

/**
 * Launches QEMU. Rejects with QEMU's output when it ends too early. The process may live on then, and the caller ends it.
 */
export async function launch(plan: Launch, signal: AbortSignal): Promise<LaunchedMachine> {
  const { directory, confinement } = plan;
  const line = { ...plan.line, qmpSocket: directory.qmpSocket, incoming: plan.devices !== null };
  const log = await EmulatorLog.create(directory.log);
  const { outOfMemoryKill = () => Promise.resolve(false) } = plan;
  const witness = new Witness({ directory, outOfMemoryKill }, log);
  let qmp: Qmp | null = null;
  let spawned: ProcessMark | null = null;
  try {
    await directory.open(confinement.uid);
    const process = await spawnEmulator(line, plan, log);
    spawned = process;
    // A failed start may be cleared away only once the process is on record: else nobody finds it.
    const [connected] = await allSettledOrThrow([
      Qmp.connect(directory.qmpSocket, { timeoutMs: startTimeoutMs, signal, alive: () => isAlive(process) }),
      plan.onSpawned(process),
    ]);
    qmp = connected;
    log.follow(qmp);
    await Promise.all([directory.seal(), witness.attend(qmp, process)]);
    await plan.beforeLoad?.({ process, qmp, witness });
    if (plan.devices !== null) await load(qmp, signal);
    return { process, qmp, witness };
  } catch (error) {
    const failure = await explained(error, log, spawned && { process: spawned, witness, qmp });
    // The follower of a connection closes the log with it.
    await (qmp ? qmp.close() : log.close());
    throw failure;
  }
}

async function spawnEmulator(
  line: CommandLine,
  { directory, devices, confinement }: Launch,
  log: EmulatorLog,
): Promise<Spawned> {
  const state = devices === null ? null : await open(devices, 'r');
  try {
    const command = confine(qemuCommandLine(line), confinement);
    // The end of a process that ends with this one needs no other witness.
    return confinement.dieWithParent
      ? await spawnDetached(EmulatorLog.printing(command), { descriptors: [log.fd, ...(state ? [state.fd] : [])] })
      : await spawnReaped(command, { exitFile: directory.exitFile, output: log.fd, input: state?.fd ?? null });
  } finally {
    await state?.close();
  }
}

/** Between the ends of its connection and its process QEMU frees the guest's memory. */
const endingTimeoutMs = 5000;

/** Lines of the console in an error. */
const toldLines = 5;

type Dying = Pick<LaunchedMachine, 'process' | 'witness'>;

/** Null: it never had a connection, or lost it before the greeting. */
type Starting = Dying & { readonly qmp: Qmp | null };

/** Fires when the machine's QEMU ends, so that waits for its guest can end. `withDeath` says why it ended. */
export function endOf({ qmp }: LaunchedMachine): AbortSignal {
  const ended = new AbortController();
  void qmp.closed.then(() => ended.abort(new VmError('failed', 'QEMU ended while its guest was waited for')));
  return ended.signal;
}

/**
 * Returns the error of a machine's start, with the reason of the machine's end if that caused it, or with what is known of a
 * guest that does not answer.
 */
export async function withDeath(machine: LaunchedMachine, error: unknown): Promise<unknown> {
  const { qmp, process, witness } = machine;
  const isOver = witness.isOver || !qmp.isOpen || !isAlive(process);
  return isOver ? deathError(machine, toVmError(error)) : silenceError(machine, error);
}

async function silenceError({ qmp, witness }: LaunchedMachine, error: unknown): Promise<unknown> {
  const isSilent = error instanceof GuestError && error.status === null;
  if (!isSilent && !(error instanceof VmError && error.code === 'timeout')) return error;
  const state = await qmp.execute<{ status: string }>('query-status').catch(() => ({ status: 'unknown' }));
  if (state.status === 'io-error') {
    return new VmError('disk_full', 'the guest stands still at a write that the disk has no room for', {
      cause: error,
    });
  }
  if (!isSilent) return error;
  const lines = (await witness.lastLines(qmp)).slice(-toldLines);
  const console = lines.length === 0 ? 'its console is empty' : `its console ends with: ${lines.join(' | ')}`;
  return new VmError('failed', `${error.message}. QEMU's state is ${state.status}; ${console}`, { cause: error });
}

async function deathError({ process, witness }: Dying, error: VmError): Promise<VmError> {
  if (witness.isEndExpected) return error;
  const gone = await awaitExit(process, endingTimeoutMs).then(
    () => true,
    () => false,
  );
  if (!gone || error.death) return error;
  const death = await witness.death();
  return new VmError('failed', `${error.message}. ${sentenceOfDeath(death)}`, { cause: error.cause, death });
}

/** Loads the device state from descriptor 4, where `launch` put it. */
async function load(qmp: Qmp, signal: AbortSignal): Promise<void> {
  await qmp.execute('migrate-incoming', { uri: 'fd:4' });
  await until(
    async () => ((await qmp.execute<{ status: string }>('query-status')).status === 'inmigrate' ? null : true),
    { what: 'device state loaded', everyMs: 1, timeoutMs: loadTimeoutMs, signal },
  );
}

async function explained(error: unknown, log: EmulatorLog, machine: Starting | null): Promise<unknown> {
  if (error instanceof VmError && error.code !== 'failed') return error;
  const said = (await log.tail()).slice(-500);
  const message = error instanceof Error ? error.message : String(error);
  const startError = new VmError('failed', said === '' ? message : `${message}; QEMU said: ${said}`, { cause: error });
  // QEMU's end closes its connection before its process is gone.
  const isOver = machine && (!machine.qmp?.isOpen || !isAlive(machine.process));
  return isOver ? deathError(machine, startError) : startError;
}
