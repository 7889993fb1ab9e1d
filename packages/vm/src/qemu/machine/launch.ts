/** From a command line to a machine that is loaded, sized and still stopped. */
import { open } from 'node:fs/promises';
import { VmError } from '@lodge/ports';
import { qemuCommandLine } from './command-line.ts';
import type { CommandLine } from './command-line.ts';
import { confine } from './confinement.ts';
import { EmulatorLog } from './emulator-log.ts';
import type { Confinement } from './confinement.ts';
import { isAlive, spawnDetached } from '../host/process.ts';
import type { ProcessMark } from '../host/process.ts';
import { Qmp } from './qmp.ts';
import type { RunDirectory } from '../saved/run-directory.ts';
import { until } from '../../waiting.ts';

export interface Launch {
  readonly directory: RunDirectory;
  readonly line: Omit<CommandLine, 'qmpSocket' | 'incoming'>;
  readonly confinement: Confinement;
  /** Device state to load; null boots. */
  readonly devices: string | null;
  /** Called before the device state is loaded: lays what the memory shall hold. */
  readonly beforeLoad?: (machine: LaunchedMachine) => Promise<void>;
  /** Called as soon as there is a process, and awaited before QEMU is spoken to. */
  readonly onSpawned: (process: ProcessMark) => Promise<void>;
}

export interface LaunchedMachine {
  readonly process: ProcessMark;
  /** Nothing of the guest has run yet: `cont` starts it. */
  readonly qmp: Qmp;
}

/** QEMU is up in a tenth of a second; a host under load is given this long. */
const startTimeoutMs = 20_000;
const loadTimeoutMs = 20_000;

/** Rejects with what QEMU printed when it ends too early. The process may live on then: whoever called ends it. */
export async function launch(plan: Launch, signal: AbortSignal): Promise<LaunchedMachine> {
  const { directory, confinement } = plan;
  const line = { ...plan.line, qmpSocket: directory.qmpSocket, incoming: plan.devices !== null };
  const log = await EmulatorLog.create(directory.log);
  let qmp: Qmp | null = null;
  try {
    await directory.open(confinement.uid);
    const process = await spawnEmulator(line, plan, log);
    const [connected] = await Promise.all([
      Qmp.connect(directory.qmpSocket, { timeoutMs: startTimeoutMs, signal, alive: () => isAlive(process) }),
      plan.onSpawned(process),
    ]);
    qmp = connected;
    log.follow(qmp);
    await directory.seal();
    await plan.beforeLoad?.({ process, qmp });
    if (plan.devices !== null) await load(qmp, signal);
    return { process, qmp };
  } catch (error) {
    const failure = await explained(error, log);
    // Whoever follows a connection closes the log with it.
    await (qmp ? qmp.close() : log.close());
    throw failure;
  }
}

async function spawnEmulator(line: CommandLine, { devices, confinement }: Launch, log: EmulatorLog) {
  const state = devices === null ? null : await open(devices, 'r');
  try {
    const command = EmulatorLog.printing(confine(qemuCommandLine(line), confinement));
    return await spawnDetached(command, { descriptors: [log.fd, ...(state ? [state.fd] : [])] });
  } finally {
    await state?.close();
  }
}

/** Fires when the machine's QEMU ends: whoever waits for its guest need wait no longer. */
export function endOf({ qmp }: LaunchedMachine): AbortSignal {
  const ended = new AbortController();
  void qmp.closed.then(() => ended.abort(new VmError('failed', 'QEMU ended while its guest was waited for')));
  return ended.signal;
}

/** Loads the device state from descriptor 4, where `launch` put it. */
async function load(qmp: Qmp, signal: AbortSignal): Promise<void> {
  await qmp.execute('migrate-incoming', { uri: 'fd:4' });
  await until(
    async () => ((await qmp.execute<{ status: string }>('query-status')).status === 'inmigrate' ? null : true),
    { what: 'device state loaded', everyMs: 1, timeoutMs: loadTimeoutMs, signal },
  );
}

async function explained(error: unknown, log: EmulatorLog): Promise<unknown> {
  if (error instanceof VmError && error.code !== 'failed') return error;
  const said = (await log.tail()).slice(-500);
  const message = error instanceof Error ? error.message : String(error);
  return new VmError('failed', said === '' ? message : `${message}; QEMU said: ${said}`, { cause: error });
}
