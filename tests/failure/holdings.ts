import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The host's holdings of one Lodge. `links` are the host's ends of the VMs' veth pairs. */
export interface Holdings {
  /** Agent id of each emulator process: one that runs twice is there twice. */
  readonly emulators: string[];
  readonly namespaces: number;
  readonly links: number;
  /** Folders under `vms`, by agent id. */
  readonly folders: string[];
}

/** Pid by agent id of every emulator that works in this data folder. */
export async function emulators(dataDir: string): Promise<Map<string, number>> {
  return new Map((await emulatorList(dataDir)).map(({ agentId, pid }) => [agentId, pid]));
}

/** Kills an emulator that {@link emulators} found. Beside traffic, its agent may have been deleted since. */
export function killEmulator(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function emulatorList(dataDir: string): Promise<{ agentId: string; pid: number }[]> {
  const found = [];
  const folder = new RegExp(`${RegExp.escape(join(dataDir, 'vms'))}/([a-z0-9]+)/`);
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const command = await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '');
    const agentId = /^\S*qemu-system-/.test(command) ? folder.exec(command)?.[1] : undefined;
    if (agentId) found.push({ agentId, pid: Number(entry) });
  }
  return found;
}

export async function holdings(dataDir: string, instance: string): Promise<Holdings> {
  const namespaces = (await run('ip', ['netns', 'list'])).stdout
    .split('\n')
    .filter((line) => line.startsWith(`${instance}-`));
  const veths = (await run('ip', ['-o', 'link', 'show', 'type', 'veth'])).stdout;
  const folders = await readdir(join(dataDir, 'vms')).catch(() => []);
  return {
    emulators: (await emulatorList(dataDir)).map(({ agentId }) => agentId),
    namespaces: namespaces.length,
    links: veths.split('\n').filter((line) => line.split(': ')[1]?.startsWith(`${instance}-`)).length,
    folders,
  };
}
