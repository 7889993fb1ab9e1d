import { readFile, readdir, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal, systemCode } from './errors.ts';

const mostCpus = 64;
/** A plugged vCPU shows up in the guest a moment after the host has plugged it. */
const deadlineMs = 8_000;
const pauseMs = 15;

interface Cpu {
  readonly file: string;
  readonly online: boolean;
}

export async function countOnlineCpus(root: string): Promise<number> {
  return (await listCpus(root)).filter((cpu) => cpu.online).length;
}

/** Brings vCPUs up or takes them down, the highest first, until `wanted` are online. */
export async function setCpusOnline(root: string, wanted: number, gone: AbortSignal): Promise<void> {
  if (wanted > mostCpus) throw new Refusal(400, `online must be at most ${mostCpus}`);
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const cpus = await listCpus(root);
    const online = cpus.filter((cpu) => cpu.online);
    if (online.length === wanted) return;
    const surplus = online.length > wanted;
    const change = surplus ? online.at(-1) : cpus.find((cpu) => !cpu.online);
    if (change) await switchCpu(change, !surplus);
    else await sleep(pauseMs);
    if (gone.aborted || performance.now() > deadline) {
      throw new Refusal(409, `${wanted} vCPUs were asked for and ${online.length} are online`);
    }
  }
}

async function switchCpu(cpu: Cpu, online: boolean): Promise<void> {
  try {
    await writeFile(cpu.file, online ? '1' : '0', { flag: 'r+' });
  } catch (error) {
    if (!['EBUSY', 'EAGAIN', 'ENOENT', 'EINVAL'].includes(systemCode(error) ?? '')) throw error;
    await sleep(pauseMs); // Still being plugged: try again until the deadline.
  }
}

/** By number, lowest first. The first vCPU has no `online` file: it cannot be taken down. */
async function listCpus(root: string): Promise<Cpu[]> {
  const folder = `${root}/sys/devices/system/cpu`;
  const names = (await readdir(folder)).filter((name) => /^cpu\d+$/.test(name));
  names.sort((a, b) => Number(a.slice(3)) - Number(b.slice(3)));
  return Promise.all(names.map((name) => readCpu(folder, name)));
}

async function readCpu(folder: string, name: string): Promise<Cpu> {
  const file = `${folder}/${name}/online`;
  try {
    return { file, online: (await readFile(file, 'utf8')).trim() === '1' };
  } catch (error) {
    // The kernel makes a vCPU's folder first and the file in it after that.
    if (systemCode(error) === 'ENOENT') return { file, online: name === 'cpu0' };
    throw error;
  }
}
