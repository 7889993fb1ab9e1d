/**
 * Where in QEMU's address space the guest's memory lies: a snapshot copies it and lays it there. QEMU returns the address
 * behind a guest's address (`gpa2hva`, in every version since 2.10), and the kernel says whether it is mapped as one.
 */
import { readFile } from 'node:fs/promises';
import { VmError } from '@lodge/ports';
import { architecture } from './architecture.ts';
import { bootMemoryMib, maxMemoryMib } from './command-line.ts';
import type { Qmp } from './qmp.ts';
import type { MemoryBase, MemoryRegion } from '../saved/snapshot/page-job.ts';

interface MemoryDevice {
  readonly type: string;
  readonly data: { readonly id?: string; readonly memaddr: number };
}

const mib = 1 << 20;
const roomBytes = (maxMemoryMib - bootMemoryMib) * mib;

/** Returns the memory that every guest boots with, then, if any of it is plugged in, the room that it grows into. */
export async function guestMemory(
  qmp: Qmp,
  pid: number,
  memory: { readonly base: MemoryBase; readonly pluggedMib: number },
): Promise<MemoryRegion[]> {
  const regions = [
    {
      address: await hostAddress(qmp, architecture.memoryAddress),
      bytes: bootMemoryMib * mib,
      blank: memory.base === 'none',
    },
  ];
  if (memory.pluggedMib > bootMemoryMib) {
    const devices = await qmp.execute<MemoryDevice[]>('query-memory-devices');
    const room = devices.find(({ data }) => data.id === 'vmem0');
    if (!room) throw new VmError('failed', 'QEMU does not tell where its memory device is');
    regions.push({ address: await hostAddress(qmp, room.data.memaddr), bytes: roomBytes, blank: true });
  }
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8');
  for (const region of regions) assertMapped(maps, region);
  return regions;
}

async function hostAddress(qmp: Qmp, guestAddress: number): Promise<number> {
  const command = { 'command-line': `gpa2hva 0x${guestAddress.toString(16)}` };
  const answer = await qmp.execute<string>('human-monitor-command', command);
  const found = /\bis (0x[0-9a-f]+)\s*$/.exec(answer);
  if (!found) throw new VmError('failed', `QEMU does not tell where its guest's memory is: ${answer.trim()}`);
  return Number(found[1]);
}

/** Asserts that writable mappings, one after another, cover the region. */
function assertMapped(maps: string, { address, bytes }: MemoryRegion): void {
  let end = address;
  for (const line of maps.split('\n')) {
    const [, from, to, access] = /^([0-9a-f]+)-([0-9a-f]+) (....)/.exec(line) ?? [];
    if (from === undefined || Number(`0x${to}`) <= end) continue;
    if (Number(`0x${from}`) > end || !access!.startsWith('rw')) break;
    end = Number(`0x${to}`);
    if (end >= address + bytes) return;
  }
  throw new VmError('failed', 'the guest’s memory is not where QEMU says it is');
}
