import { readFile } from 'node:fs/promises';

/** Use of a process, from its kernel. */
export interface ProcessUse {
  readonly rssMib: number;
  /** The most memory that it ever had. */
  readonly peakMib: number;
  /** CPU time of all its threads since it began, in ticks of 10 ms. */
  readonly cpuMs: number;
}

export async function useOf(pid: number): Promise<ProcessUse> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const mibOf = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)![1]) / 1024;
  // Behind the name, which may contain spaces, the third field comes first.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { rssMib: mibOf('VmRSS'), peakMib: mibOf('VmHWM'), cpuMs: (Number(fields[11]) + Number(fields[12])) * 10 };
}
