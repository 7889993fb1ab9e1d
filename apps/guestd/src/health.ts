import { readFile, statfs } from 'node:fs/promises';
import { freemem, totalmem, uptime } from 'node:os';
import { protocolVersion, type GuestHealth } from '@lodge/guest';
import { countOnlineCpus } from './cpus.ts';
import type { Settings } from './settings.ts';

const mib = 1024 * 1024;

export async function health({ root }: Settings): Promise<GuestHealth> {
  const disk = await statfs(`${root}/`);
  return {
    protocol: protocolVersion,
    uptimeSeconds: uptime(),
    cpusOnline: await countOnlineCpus(root),
    memoryTotalMib: Math.floor(totalmem() / mib),
    // On Linux this is `MemAvailable` of /proc/meminfo (libuv's uv_get_free_memory), not `MemFree`.
    memoryAvailableMib: Math.floor(freemem() / mib),
    oomKills: await oomKills(root),
    diskFreeMib: Math.floor((disk.bavail * disk.bsize) / mib),
    diskTotalMib: Math.floor((disk.blocks * disk.bsize) / mib),
  };
}

/** `oom_kill` of /proc/vmstat (since Linux 4.13) counts from the boot on. */
async function oomKills(root: string): Promise<number | null> {
  const count = /^oom_kill (\d+)$/m.exec(await readFile(`${root}/proc/vmstat`, 'utf8'))?.[1];
  return count === undefined ? null : Number(count);
}
