import { getServers } from 'node:dns';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { sizeNames, sizes } from '@lodge/domain';
import { createBrowserDiskBuilder } from '@lodge/images';
import type { Log, VmDriver } from '@lodge/ports';
import { asUser, createHostNetwork, createQemuDriver } from '@lodge/vm';
import type { HostNetwork, NetworkOptions } from '@lodge/vm';
import { maxVms } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import { findUser } from '../machine-host/control-user.ts';
import { ownCheckout, programFor } from '../machine-host/program.ts';
import { resolverFor } from './resolver.ts';

/** The network of the VMs, as configured. */
export async function networkOptions(config: Config): Promise<NetworkOptions> {
  const { instance, networkRange: range, brokerPort, dns } = config;
  const resolver = await resolverFor(dns);
  // The host itself asks for names of allow lists, so a resolver on its loopback works, which guests could not use.
  const nameServers = resolver === null && dns === 'auto' ? getServers() : undefined;
  const controlUser = await findUser(config.controlUser);
  return {
    instance,
    range,
    ...(controlUser && { hostUid: controlUser.uid }),
    brokerPort,
    resolver,
    ...(nameServers && { nameServers }),
    guests: mostVms(config),
    blocked: config.egressBlocked,
    mail: config.egressMail,
  };
}

/** Most VMs of the smallest size in the host's memory, and two that become templates. */
export function mostVms({ memoryReservedMib, memoryOvercommit }: Config): number {
  const promisedMib = (totalmem() / 2 ** 20 - memoryReservedMib) * memoryOvercommit;
  const smallestMib = Math.min(...sizeNames.map((name) => sizes[name].memoryMib));
  return Math.max(1, Math.ceil(promisedMib / smallestMib)) + 2;
}

/** How the process for guests' names is started: as a user that no other process has, behind those of VMs. */
async function asNamesUser({ vmUidBase, dataDir }: Config, entry: string): Promise<readonly string[]> {
  const uid = vmUidBase + maxVms;
  const user = { name: String(uid), uid, gid: uid };
  const place = { node: process.execPath, entry, checkout: ownCheckout, view: join(dataDir, 'program') };
  const { through, argv } = await programFor(user, place);
  return [...through, ...asUser(uid), ...argv];
}

/** The parts that run VMs on this host, as configured. They touch nothing before the driver is started. */
export async function openMachines(
  config: Config,
  log: Log,
): Promise<{ readonly network: HostNetwork; readonly driver: VmDriver }> {
  const { instance, brokerPort, dataDir, cacheDir, accelerator, vmUidBase, diskRate, unboundMemory } = config;
  const network = createHostNetwork({
    ...(await networkOptions(config)),
    log: (message) => log.info({}, message),
    unprivileged: (file) => asNamesUser(config, file),
  });
  const driver = createQemuDriver({
    dataDir,
    cacheDir,
    instance,
    network,
    brokerPort,
    mbitPerVcpu: config.networkMbit === 0 ? null : config.networkMbit,
    accelerator,
    browserDisk: createBrowserDiskBuilder({ cacheDir, log }),
    diskRateFactor: diskRate,
    unboundMemory,
    pageOutAfterMs: config.pageOutAfterMinutes * 60_000,
    zramMib: config.zramMib,
    diskFloorMib: config.diskFloorMib,
    uidBase: vmUidBase,
    log,
  });
  return { network, driver };
}
