/**
 * Backed-up VMs: the run directory of a VM at rest, under another name, `<vms>/<agent id>.aside`. It comes and goes by one
 * rename, so disk and snapshot stay as they are. Only its snapshot holds the guest's data, which distinguishes it from any
 * other suspended VM, wherever a kill has left it.
 */
import { readdir, rename } from 'node:fs/promises';
import { VmError } from '@lodge/ports';
import { freeSpace } from '../host/capacity.ts';
import { syncFile } from '../host/files.ts';
import { isAgentId, RunDirectory } from './run-directory.ts';
import type { VmRecord } from './run-directory.ts';

const suffix = '.aside';
/** Most MiB that an upgrade writes beside disks and snapshot. */
const spareMib = 512;

export class Backups {
  private readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  directory(agentId: string): RunDirectory {
    return new RunDirectory(this.root, agentId, `${agentId}${suffix}`);
  }

  async agentIds(): Promise<string[]> {
    const names = (await readdir(this.root)).filter((name) => name.endsWith(suffix));
    return names.map((name) => name.slice(0, -suffix.length)).filter(isAgentId);
  }

  /** The execution of the backup; null when there is none, empty when it is being freed. */
  async executionOf(agentId: string): Promise<string | null> {
    const directory = this.directory(agentId);
    if (!(await directory.exists())) return null;
    return (await directory.read())?.executionId ?? '';
  }

  async records(): Promise<(VmRecord | null)[]> {
    return Promise.all((await this.agentIds()).map((agentId) => this.directory(agentId).read()));
  }

  /** Backs up a suspended VM whose snapshot holds its guest's data. */
  async put(directory: RunDirectory): Promise<void> {
    if (!(await directory.snapshot.hasData())) {
      throw new VmError('gone', `${directory.agentId} has no VM that can be backed up`);
    }
    await rename(directory.path, this.directory(directory.agentId).path);
    await syncFile(this.root);
  }

  /** Rolls back; `makeWay` removes the VM that was made in its place. */
  async rollBack(directory: RunDirectory, makeWay: () => Promise<unknown>): Promise<void> {
    const backup = this.directory(directory.agentId);
    if (!(await backup.exists())) return;
    // This comes first: with its data, it would be backed up again in its old place.
    await backup.snapshot.dropData();
    await makeWay();
    await rename(backup.path, directory.path);
    await syncFile(this.root);
  }

  async drop(agentId: string): Promise<void> {
    await this.directory(agentId).remove();
  }
}

export interface UpgradeRoom {
  /** Present size of disk and memory. */
  readonly diskMib: number;
  readonly memoryMib: number;
  /** Free space that must remain afterwards. */
  readonly floorMib: number;
}

/** Rejects with `disk_full` unless there is room for a second disk, the guest's data and the snapshot of a VM's memory. */
export async function assertRoom(
  directory: RunDirectory,
  { diskMib, memoryMib, floorMib }: UpgradeRoom,
): Promise<void> {
  const { freeMib } = await freeSpace(directory.path);
  const neededMib = Math.ceil(2 * diskMib + memoryMib + spareMib + floorMib);
  if (freeMib >= neededMib) return;
  throw new VmError('disk_full', `an upgrade needs ${neededMib} MiB, and ${freeMib} MiB are free`);
}
