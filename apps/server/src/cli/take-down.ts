/**
 * Stops everything of one Lodge on this host and keeps its data: control plane, VMs, networks, embedded database. The order
 * ensures that nothing makes a removed part anew. Every step looks first and may be repeated; the next `down`, or the next
 * start, repairs the remains of a kill between any two.
 *
 * Running agents are asked to write out their data and noted as to be started again, so the next start boots their disks
 * without taking the stop for a crash.
 */
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Operation } from '@lodge/domain';
import type { Log, VmDriver, VmObservation } from '@lodge/ports';
import { observeAgent } from '@lodge/engine';
import { guestClient } from '@lodge/guest';
import { migrate, openStore, startEmbeddedPostgres } from '@lodge/store';
import type { Store } from '@lodge/store';
import { allAgents, leaseAgent, releaseAgent } from '@lodge/store/agents';
import { exists } from '../host/files.ts';
import type { Config } from '../config/config.ts';
import { lockHolder, lockInstance } from '../host/instance-lock.ts';
import { openMachines } from '../host/machines.ts';
import { openControlGroup } from '../machine-host/control-group.ts';
import { endControlPlane } from './end-control-plane.ts';

/** Multiplied by the host's pace. */
const syncTimeoutMs = 10_000;
const leaseTtlMs = 30_000;

/** Calls `tell` with each thing done. Resolves with false when there was nothing to stop. */
export async function takeDown(config: Config, log: Log, tell: (what: string) => void): Promise<boolean> {
  if (!(await exists(config.dataDir))) return false;
  let did = false;
  const done = (what: string): void => {
    did = true;
    tell(what);
  };
  const controlPlane = await lockHolder(config.dataDir);
  if (controlPlane) {
    const how = await endControlPlane(controlPlane);
    done(`control plane (pid ${controlPlane.pid}) ${how}`);
  }
  const unlock = await lockInstance(config.dataDir);
  try {
    // Opening it ends the remains of a killed control plane.
    for (const group of ['control', 'relays'] as const) {
      await (await openControlGroup({ ...config, of: group })).end();
    }
    const databaseRan = await databaseRuns(config);
    await endMachines(config, log, done);
    if (await databaseRuns(config)) await withStore(config, log, () => Promise.resolve());
    if (databaseRan) done('database stopped');
  } finally {
    await unlock();
  }
  return did;
}

async function endMachines(config: Config, log: Log, done: (what: string) => void): Promise<void> {
  if (!(await exists(join(config.dataDir, 'vms')))) return;
  // Machines are ended whatever memory they may use, and nothing is set up for them.
  const { network, driver } = await openMachines({ ...config, unboundMemory: 'allow', zramMib: 0 }, log);
  // Only starting it finds processes and namespaces that no file names.
  await driver.start();
  try {
    const all = await driver.list();
    // An agent's machine at rest runs nowhere, so it stays.
    const vms = all.filter((vm) => vm.state !== 'disk-only' && vm.state !== 'suspended');
    if (vms.length > 0) {
      await writeOut(driver, vms, log);
      const asleep = all.filter((vm) => vm.state === 'suspended').map((vm) => vm.agentId);
      await noteStopped(config, new Set(asleep), log);
      for (const { agentId } of vms) await driver.remove(agentId, { keepDisk: true });
      done(`${vms.length} virtual machine${vms.length === 1 ? '' : 's'} stopped, disks kept`);
    }
  } finally {
    await driver.stop();
  }
  await network.teardown();
}

/**
 * Makes each guest write its file system's cache to its disk. One that does not answer loses the writes of the last seconds.
 */
async function writeOut(driver: VmDriver, vms: readonly VmObservation[], log: Log): Promise<void> {
  const sync = async ({ agentId, executionId, state, address }: VmObservation): Promise<void> => {
    if ((state !== 'running' && state !== 'paused') || address === null || executionId === null) return;
    try {
      if (state === 'paused') await driver.resume(agentId, executionId);
      const { pace } = driver;
      const guest = guestClient({
        dial: (port, signal) => driver.dial(agentId, port, signal),
        pace,
        credential: () => driver.guestCredential(agentId, address),
      });
      await guest.sync(false, { timeoutMs: syncTimeoutMs * pace });
    } catch (error) {
      log.warn({ err: error, agent_id: agentId }, 'the guest did not write out its disk cache');
    }
  };
  await Promise.all(vms.map(sync));
}

/**
 * Turns running and paused agents into ones to be started: the next start boots their disks. An agent that was being stopped
 * is stopped, and those `asleep` stay as they are.
 */
async function noteStopped(config: Config, asleep: ReadonlySet<string>, log: Log): Promise<void> {
  try {
    await withStore(config, log, (store) => noteNotRunning(store, holderName(config), asleep));
  } catch (error) {
    // A database that does not answer is no reason to leave VMs running.
    log.warn({ err: error }, 'agents are not noted as stopped: the next start takes it for a crash of their VMs');
  }
}

/** Does the same in a store. `holder` is the name of this host's control plane. */
export async function noteNotRunning({ database }: Store, holder: string, asleep: ReadonlySet<string>): Promise<void> {
  for (const { id, status, host, operation, generation } of await database.repeatable(allAgents)) {
    const hasMachine = (status === 'running' || status === 'paused') && (host === null || host === holder);
    if (!hasMachine || asleep.has(id) || !(await leaseAgent(database, id, holder, leaseTtlMs))) continue;
    const facts = operation?.kind === 'stop' ? stoppedNow(operation) : toBeStarted;
    await observeAgent(database, id, generation, holder, { ...facts, operation: null, vmAddress: null });
    await releaseAgent(database, id, holder);
  }
}

const toBeStarted = {
  status: 'provisioning',
  statusReason: null,
  pausedAt: null,
  event: { type: 'agent.taken_down', data: {} },
} as const;

const stoppedNow = ({ cause }: Operation) => ({
  status: 'stopped' as const,
  statusReason: null,
  pausedAt: null,
  stoppedAt: new Date(),
  event: {
    type: 'agent.stopped' as const,
    data: { cause, kept: 'disk_as_lodge_went' as const, duration_ms: null, memory_mib: null },
  },
});

async function withStore(config: Config, log: Log, work: (store: Store) => Promise<void>): Promise<void> {
  const { databaseUrl, systemUser: user, controlUser: client } = config;
  const options = { dataDir: postgresFolder(config), user, client, log };
  const postgres = databaseUrl === null ? await startEmbeddedPostgres(options) : null;
  try {
    const connectionString = databaseUrl ?? postgres!.connectionString;
    await migrate({ connectionString });
    const store = await openStore({ connectionString, log });
    try {
      await work(store);
    } finally {
      await store.close();
    }
  } finally {
    await postgres?.stop();
  }
}

/** Whether the embedded database runs, though its control plane does not. */
async function databaseRuns(config: Config): Promise<boolean> {
  return config.databaseUrl === null && (await exists(join(postgresFolder(config), 'cluster', 'postmaster.pid')));
}

function postgresFolder(config: Config): string {
  return join(config.dataDir, 'postgres');
}

/** The name that the control plane gives itself (wire.ts): the leases of a killed one count as this command's. */
export function holderName(config: Config): string {
  return `${config.instance}@${hostname()}`;
}
