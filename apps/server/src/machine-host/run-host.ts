/**
 * The machine host: the process that `npm start` starts, as root. It does what needs root for a control plane that has none
 * (ADR 35), and lives as long as that:
 *
 *   lock ─> control plane spawned ─> database, keys, driver ─> handed over ─> serves ─> control plane ended ─> all ended
 *
 * - The control plane ends: what it started is ended, and so is this process, with its exit code. Machines go on.
 * - This process is killed: the kernel kills the control plane with it. The next start ends its child processes.
 * - A signal: the control plane is asked to end, and has a bounded time for it.
 */
import { mkdir } from 'node:fs/promises';
import type { Log } from '@lodge/ports';
import { KnownImages, serveMachines } from '@lodge/vm/remote';
import { closeAll } from '../closing.ts';
import type { Closing } from '../closing.ts';
import { readConfig } from '../config/config.ts';
import { AlreadyRunningError, assertRestored, lockInstance, UnfinishedRestoreError } from '../host/instance-lock.ts';
import { configOrExit, exitWith, processLog } from '../process-output.ts';
import { version } from '../version.ts';
import { startBackupTimer } from './backup-timer.ts';
import { openControlGroup } from './control-group.ts';
import type { ControlGroup } from './control-group.ts';
import { startControlProcess } from './control-process.ts';
import type { ControlProcess, ControlProcessOptions } from './control-process.ts';
import { ControlUserError, controlUser, makeOwnFolder } from './control-user.ts';
import { handoverMessage, takeSecrets } from './handover.ts';
import type { OpenedHost, openHost } from './host.ts';

/** Time in which the control plane's child processes are ended, when nobody waits for anything else. */
const lastTimeoutMs = 2_000;
/** A second signal, or this time after the first, ends the process as it is: every part survives that. */
const closeTimeoutMs = 30_000;

export interface MachineHostOptions {
  /** The same as in `ControlProcessOptions`. */
  readonly variables?: readonly string[];
}

/** `entry` is this process' file, which also runs as the control plane. */
export async function runMachineHost(
  env: NodeJS.ProcessEnv,
  entry: string,
  { variables = [] }: MachineHostOptions = {},
): Promise<void> {
  const config = configOrExit(() => readConfig(env));
  const whole = { ...env };
  const secrets = takeSecrets(env);
  const log = processLog(config, env);
  process.stdout.write(`Lodge ${version}\n`);
  const closing: Closing = [];
  try {
    const control = await openControlProcess({ config, env, entry, variables }, log, closing);
    endOnSignal(control);
    const host = await Promise.race([openHere(config, log, closing, await controlUser(config)), control.ended]);
    // It has logged the reason.
    if (typeof host === 'number') return await endWith(control, closing, log);
    const { driver, images, versions, ...handed } = host;
    closing.push(() => driver.stop());
    serveMachines(control.channel, { driver, images: new KnownImages(images), versions, log });
    control.channel.send(handoverMessage({ ...handed, brokerHost: driver.brokerHost, secrets }));
    control.channel.open();
    const backups = startBackupTimer(config, whole, log);
    closing.push(() => Promise.resolve(backups.stop()));
    await endWith(control, closing, log);
  } catch (error) {
    await closeAll(closing, log);
    const isPlain =
      error instanceof AlreadyRunningError ||
      error instanceof UnfinishedRestoreError ||
      error instanceof ControlUserError;
    if (!isPlain) log.fatal({ err: error }, 'Lodge did not start');
    exitWith(error instanceof Error ? error.message : String(error));
  }
}

async function openControlProcess(
  options: Pick<ControlProcessOptions, 'config' | 'env' | 'entry' | 'variables'>,
  log: Log,
  closing: Closing,
): Promise<ControlProcess> {
  const { config } = options;
  const user = await controlUser(config);
  await mkdir(config.dataDir, { recursive: true, mode: 0o711 });
  closing.push(await lockInstance(config.dataDir));
  await assertRestored(config.dataDir);
  const ownFolder = await makeOwnFolder(config, user);
  const group = await openControlGroup(config);
  closing.push(() => group.end());
  for (const what of group.missing) log.warn({ what }, 'no bound on the control plane from a control group');
  const process = await startControlProcess({ ...options, user, group, ownFolder });
  const control = { ...process, ended: endedWithAll(process, group, log) };
  closing.push(async () => {
    control.kill();
    await control.ended;
  });
  return control;
}

/** Ends the control plane's children after it, before anything else ends. */
async function endedWithAll({ ended }: ControlProcess, group: ControlGroup, log: Log): Promise<number> {
  const code = await ended;
  await group.end().catch((error: unknown) => log.error({ err: error }, 'what the control plane started goes on'));
  return code;
}

/** Opens the host while the other process loads its modules. */
async function openHere(...given: Parameters<typeof openHost>): Promise<OpenedHost> {
  const { openHost: open } = await import('./host.ts');
  return open(...given);
}

/** Waits until the control plane has ended, or broke the protocol and is ended. */
async function endWith(control: ControlProcess, closing: Closing, log: Log): Promise<never> {
  void control.channel.ended.then((why) => {
    if (why === null) return;
    log.error({ why: why.message }, 'the control plane broke the protocol of the machine host and is ended');
    control.kill();
  });
  const code = await control.ended;
  await closeAll(closing, log);
  process.exit(code);
}

function endOnSignal(control: ControlProcess): void {
  let isEnding = false;
  const now = (code: number): void => {
    control.kill();
    setTimeout(() => process.exit(code), lastTimeoutMs);
    void control.ended.then(() => process.exit(code));
  };
  const end = (): void => {
    if (isEnding) return now(130);
    isEnding = true;
    process.stdout.write('Stopping; the agents go on running (npm run down stops them too).\n');
    setTimeout(() => now(1), closeTimeoutMs).unref();
    control.channel.send({ kind: 'end' });
  };
  process.on('SIGINT', end).on('SIGTERM', end);
}
