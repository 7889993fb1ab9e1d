import { open, readFile, readdir, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

/** Pid of the emulator that runs the agent's VM. */
export async function qemuPid(dataDir: string, agentId: string): Promise<number> {
  const dir = join(dataDir, 'vms', agentId);
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const command = await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '');
    if (command.startsWith('qemu-system') && command.includes(dir)) return Number(entry);
  }
  throw new Error(`no emulator runs for ${agentId}`);
}

/** How often each needle occurs in all memory of process `pid` (so in the guest's too) and in all files of `dir` (so on its disk). */
export async function occurrences(
  pid: number,
  dir: string,
  needles: readonly Buffer[],
): Promise<{ memory: number[]; disk: number[] }> {
  const memory = needles.map(() => 0);
  const pagemap = await open(`/proc/${pid}/pagemap`);
  const touched = (from: number, to: number): Promise<boolean> => anyPageTouched(pagemap, from, to);
  for (const { start, end } of await readableMappings(pid)) {
    await count(`/proc/${pid}/mem`, start, end, needles, memory, touched);
  }
  await pagemap.close();
  const disk = needles.map(() => 0);
  for (const name of await readdir(dir)) {
    const path = join(dir, name);
    const file = await open(path).catch(() => null);
    const stat = await file?.stat();
    await file?.close();
    if (stat?.isFile()) await count(path, 0, stat.size, needles, disk);
  }
  return { memory, disk };
}

/** How often each needle occurs in all files under `dir`. */
export async function occurrencesIn(dir: string, needles: readonly Buffer[]): Promise<number[]> {
  const counts = needles.map(() => 0);
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const size = await stat(path).then(
      (file) => file.size,
      () => 0,
    );
    // A database at work removes files meanwhile.
    await count(path, 0, size, needles, counts).catch(ifGone);
  }
  return counts;
}

function ifGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

async function readableMappings(pid: number): Promise<{ start: number; end: number }[]> {
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8');
  return maps
    .split('\n')
    .map((line) => /^([0-9a-f]+)-([0-9a-f]+) r/.exec(line))
    .filter((match) => match !== null)
    .map((match) => ({ start: Number.parseInt(match[1]!, 16), end: Number.parseInt(match[2]!, 16) }))
    .filter(({ end }) => Number.isSafeInteger(end));
}

const chunkBytes = 8 << 20;
const pageBytes = 4096;

/** Whether the process has touched any page of the range (pagemap bits 63 and 62): room that was never used holds nothing and is vast. */
async function anyPageTouched(pagemap: FileHandle, from: number, to: number): Promise<boolean> {
  const entries = Buffer.alloc(Math.ceil((to - from) / pageBytes) * 8);
  await pagemap.read(entries, 0, entries.length, (from / pageBytes) * 8);
  for (let at = 7; at < entries.length; at += 8) if (entries[at]! & 0xc0) return true;
  return false;
}

async function count(
  path: string,
  start: number,
  end: number,
  needles: readonly Buffer[],
  counts: number[],
  worthReading: (from: number, to: number) => Promise<boolean> = () => Promise.resolve(true),
): Promise<void> {
  const overlap = Math.max(...needles.map((needle) => needle.length)) - 1;
  const file = await open(path);
  const buffer = Buffer.alloc(chunkBytes + overlap);
  try {
    for (let at = start; at < end; at += chunkBytes) {
      const wanted = Math.min(buffer.length, end - at);
      if (!(await worthReading(at, Math.min(at + chunkBytes, end)))) continue;
      // Some of an emulator's mappings cannot be read (device memory): nothing of the guest lies there.
      const { bytesRead } = await file.read(buffer, 0, wanted, at).catch(() => ({ bytesRead: 0 }));
      const chunk = buffer.subarray(0, bytesRead);
      for (const [index, needle] of needles.entries()) {
        for (let hit = chunk.indexOf(needle); hit >= 0; hit = chunk.indexOf(needle, hit + 1)) counts[index]! += 1;
      }
    }
  } finally {
    await file.close();
  }
}
