import type { Log, VmDriver } from '@lodge/ports';
import { createHostNetwork, createQemuDriver } from '@lodge/vm';
import type { HostNetwork } from '@lodge/vm';
import type { Config } from '../config/config.ts';
import { resolverFor } from './resolver.ts';

/** What runs VMs on this host, as configured. Nothing is touched before the driver is started. */
export async function openMachines(
  config: Config,
  log: Log,
): Promise<{ readonly network: HostNetwork; readonly driver: VmDriver }> {
  const { instance, brokerPort, dataDir, cacheDir, accelerator, vmUidBase, diskRate, unboundMemory } = config;
  const network = createHostNetwork({
    instance,
    range: config.networkRange,
    brokerPort,
    resolver: await resolverFor(config.dns),
    log: (message) => log.info({}, message),
  });
  const driver = createQemuDriver({
    dataDir,
    cacheDir,
    instance,
    network,
    brokerPort,
    accelerator,
    diskRateFactor: diskRate,
    unboundMemory,
    diskFloorMib: config.diskFloorMib,
    uidBase: vmUidBase,
    log,
  });
  return { network, driver };
}
