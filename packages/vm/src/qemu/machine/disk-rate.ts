/**
 * How much a VM may read and write. QEMU delays the guest's requests before they reach the host, so the bound holds on every
 * file system and with every layout of control groups (docs/adr/0032-what-clones-share.md).
 *
 * There are two bounds of two kinds. A filter in front of the disk's format counts requests, including discards. The device
 * counts bytes without discards, because a guest that trims its disk discards gigabytes at once. A flush reaches the host
 * only if something was written since the last one, so the bound on requests bounds flushes.
 */
import type { Machine } from '@lodge/ports';
import type { Qmp } from './qmp.ts';

/** Both bounds count reads and writes together. Zero is no bound. */
export interface DiskRate {
  readonly requestsPerSecond: number;
  readonly mibPerSecond: number;
}

/** Rates by the memory of the machine: the first row that is not smaller. docs/guides/operating.md has the same table. */
export const diskRates: readonly (DiskRate & { readonly upToMemoryMib: number })[] = [
  { upToMemoryMib: 2048, requestsPerSecond: 500, mibPerSecond: 40 },
  { upToMemoryMib: 4096, requestsPerSecond: 1000, mibPerSecond: 80 },
  { upToMemoryMib: 8192, requestsPerSecond: 1500, mibPerSecond: 120 },
  { upToMemoryMib: 16_384, requestsPerSecond: 2000, mibPerSecond: 160 },
];

/** A guest that was quiet may exceed its rate by this factor for this many seconds: for a boot, an install, a wake. */
const burst = 5;
const burstSeconds = 10;

/** `factor` is the operator's, on the table; 0 sets no bound. */
export function diskRate({ memoryMib }: Pick<Machine, 'memoryMib'>, factor: number): DiskRate {
  const row = diskRates.find(({ upToMemoryMib }) => memoryMib <= upToMemoryMib) ?? diskRates.at(-1)!;
  if (factor === 0) return { requestsPerSecond: 0, mibPerSecond: 0 };
  return {
    requestsPerSecond: Math.max(1, Math.round(row.requestsPerSecond * factor)),
    mibPerSecond: row.mibPerSecond * factor,
  };
}

/** The names that QEMU's command line gives to filter and device. */
export const requestBound = 'disk0-requests';
export const diskDevice = 'disk0-device';

/**
 * Sets the rate of a VM, running or not, of each of these devices. No command line sets one: every machine's command line is
 * the same.
 */
export async function setDiskRate(
  qmp: Qmp,
  { requestsPerSecond, mibPerSecond }: DiskRate,
  devices: readonly string[],
): Promise<void> {
  const bytes = Math.round(mibPerSecond * 2 ** 20);
  // QEMU keeps a bound that the command does not name.
  const requests = {
    'iops-total': requestsPerSecond,
    'iops-total-max': requestsPerSecond * burst,
    'iops-total-max-length': requestsPerSecond === 0 ? 1 : burstSeconds,
  };
  await Promise.all([
    qmp.execute('qom-set', { path: `/objects/${requestBound}`, property: 'limits', value: requests }),
    ...devices.map((device) =>
      qmp.execute('block_set_io_throttle', {
        // The disk of a device on a bus belongs to its inner half, which has a path and no name.
        id: `/machine/peripheral/${device}/virtio-backend`,
        bps: bytes,
        bps_rd: 0,
        bps_wr: 0,
        iops: 0,
        iops_rd: 0,
        iops_wr: 0,
        ...(bytes === 0 ? {} : { bps_max: bytes * burst, bps_max_length: burstSeconds }),
      }),
    ),
  ]);
}
