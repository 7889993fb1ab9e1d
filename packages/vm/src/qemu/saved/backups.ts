/**
 * VMs that were backed up: the run directory of one at rest, under another name, `<vms>/<agent id>.aside`. It comes and goes
 * by one rename, so disk and snapshot stay what they are; that its snapshot holds the guest's data tells it from any other
 * suspended VM, wherever a kill has left it.
 */
import { readdir, rename } from 'node:fs/promises';
import { VmError } from '@lodge/ports';
import { freeSpace } from '../host/disk.ts';
import { syncFile } from '../host/files.ts';
import { isAgentId, RunDirectory } from './run-directory.ts';

const suffix = '.aside';
/** What an upgrade may write beside disks and snapshot, MiB. */
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

  /** The execution that is the backup; null when none is, empty when it is being freed. */
  async executionOf(agentId: string): Promise<string | null> {
    const directory = this.directory(agentId);
    if (!(await directory.exists())) return null;
    return (await directory.read())?.executionId ?? '';
  }

  /** Templates that the backup lies over. */
  async templateIds(): Promise<string[]> {
    const records = await Promise.all((await this.agentIds()).map((agentId) => this.directory(agentId).read()));
    return records.flatMap((record) => record?.templateId ?? []);
  }

  /** Of a suspended VM whose snapshot holds its guest's data. */
  async put(directory: RunDirectory): Promise<void> {
    if (!(await directory.snapshot.hasData())) {
      throw new VmError('gone', `${directory.agentId} has no VM that can be backed up`);
    }
    await rename(directory.path, this.directory(directory.agentId).path);
    await syncFile(this.root);
  }

  /** `makeWay` removes what was made in its place. */
  async rollBack(directory: RunDirectory, makeWay: () => Promise<unknown>): Promise<void> {
    const backup = this.directory(directory.agentId);
    if (!(await backup.exists())) return;
    // First: in its old place it would be backed up again.
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
  /** What disk and memory take up now. */
  readonly diskMib: number;
  readonly memoryMib: number;
  /** What must be free afterwards. */
  readonly floorMib: number;
}

/** Rejects with `disk_full` unless there is room for a second disk, what goes along and the snapshot of a VM's memory. */
export async function assertRoom(
  directory: RunDirectory,
  { diskMib, memoryMib, floorMib }: UpgradeRoom,
): Promise<void> {
  const { freeMib } = await freeSpace(directory.path);
  const neededMib = Math.ceil(2 * diskMib + memoryMib + spareMib + floorMib);
  if (freeMib >= neededMib) return;
  throw new VmError('disk_full', `an upgrade needs ${neededMib} MiB, and ${freeMib} MiB are free`);
}
