/**
 * What is on disk of one agent's VM: `<dataDir>/vms/<agent id>/`, and `<agent id>.aside/` where one was backed up
 * (`backups.ts`).
 *
 *   vm.json     the record below, replaced atomically; root only
 *   disk.qcow2  the agent's disk, owned by the VM's user while the VM runs
 *   snapshot/   its memory while it is suspended (`snapshot/snapshot.ts`)
 *   qmp         QEMU's control socket
 *   qemu.log    what QEMU printed last, and the pipe it comes by (`machine/emulator-log.ts`)
 *   exit        how QEMU ended (`host/reaper.ts`)
 *   death.json  why its VM ended, once that is known (`machine/witness.ts`); root only, for its console is in it
 *
 * The record is written before each step it announces, so that a control plane killed between any two steps finds what it
 * did: the slot before the namespace, `removing` before the first thing is taken away. A process started but not recorded
 * is found by its command line, which names this directory.
 *
 * While QEMU starts, the directory is its user's group's to write, because it makes its socket there. It is taken back
 * before the guest runs its first instruction.
 */
import { access, chmod, chown, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { VmDeath } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import type { Machine, RuntimeFacts } from '@lodge/ports';
import { syncFile } from '../host/files.ts';
import type { ProcessMark } from '../host/process.ts';
import { Snapshot } from './snapshot/snapshot.ts';
import type { MemoryBase } from './snapshot/snapshot.ts';

/**
 *   creating -> running -> removing -> (gone, disk, or suspended)
 *   disk, suspended -> creating
 *
 * `running` covers paused: that is asked of QEMU, which knows it.
 */
export type VmPhase = 'creating' | 'running' | 'removing' | 'disk' | 'suspended';

export interface VmRecord {
  readonly version: 1;
  readonly agentId: string;
  readonly executionId: string;
  readonly phase: VmPhase;
  readonly from: 'clone' | 'boot' | 'snapshot';
  /** What its memory was laid over: a snapshot of it holds what differs. */
  readonly base: MemoryBase;
  readonly machine: Machine;
  /** What the snapshot that it was started from kept. */
  readonly facts: RuntimeFacts | null;
  readonly templateId: string;
  /** Numbers namespace and user id; null when the VM has neither. */
  readonly slot: number | null;
  readonly address: string | null;
  readonly process: ProcessMark | null;
  /** The boot of the host that the process is of; absent where an earlier release made the VM. */
  readonly boot?: string;
  /** What the guest's daemon knows the host by, or will; absent where the VM was made before there were credentials. */
  readonly credential?: string;
}

/** The kernel's bound on a unix socket's path, with its closing zero byte. */
const longestSocketPath = 107;

export class RunDirectory {
  readonly agentId: string;
  readonly path: string;
  readonly snapshot: Snapshot;

  /** Under another `name` than the agent's it lies at rest: no socket is opened there. */
  constructor(root: string, agentId: string, name: string = agentId) {
    if (!isAgentId(agentId)) throw new VmError('failed', `not an agent id: ${agentId}`);
    this.agentId = agentId;
    this.path = join(root, name);
    this.snapshot = new Snapshot(this.path, this.disk);
    if (name === agentId && Buffer.byteLength(this.qmpSocket) > longestSocketPath) {
      throw new VmError(
        'failed',
        `${this.qmpSocket} is longer than a unix socket's path may be (${longestSocketPath} bytes): choose a shorter data folder`,
      );
    }
  }

  get record(): string {
    return join(this.path, 'vm.json');
  }
  get disk(): string {
    return join(this.path, 'disk.qcow2');
  }
  get qmpSocket(): string {
    return join(this.path, 'qmp');
  }
  get log(): string {
    return join(this.path, 'qemu.log');
  }
  get exitFile(): string {
    return join(this.path, 'exit');
  }
  get death(): string {
    return join(this.path, 'death.json');
  }

  read(): Promise<VmRecord | null> {
    return readJson<VmRecord>(this.record);
  }

  readDeath(): Promise<VmDeath | null> {
    return readJson<VmDeath>(this.death);
  }

  /** Makes no folder: where it is gone, nobody asks. */
  writeDeath(death: VmDeath): Promise<void> {
    return replaceJson(this.death, death);
  }

  async create(): Promise<void> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
  }

  async write(record: VmRecord): Promise<void> {
    await this.create();
    await replaceJson(this.record, record);
  }

  /** Lets QEMU, as `uid`, make its socket here. What an earlier one died of is no more of interest. */
  async open(uid: number): Promise<void> {
    for (const path of [this.qmpSocket, this.death]) await rm(path, { force: true });
    await chown(this.path, 0, uid);
    await chmod(this.path, 0o770);
  }

  /** From here on nobody but root makes, renames or removes a file here. */
  async seal(): Promise<void> {
    await chmod(this.path, 0o710);
  }

  async exists(): Promise<boolean> {
    return access(this.path).then(
      () => true,
      () => false,
    );
  }

  /** Makes the disk and its name survive a loss of power. */
  async syncDisk(): Promise<void> {
    for (const path of [this.disk, this.path, join(this.path, '..')]) await syncFile(path);
  }

  async syncRecord(): Promise<void> {
    for (const path of [this.record, this.path]) await syncFile(path);
  }

  /** Puts the disk out of the reach of whoever gets the VM's user id next. */
  async close(): Promise<void> {
    await chown(this.disk, 0, 0);
    await chown(this.path, 0, 0);
    await chmod(this.path, 0o700);
    for (const path of [this.qmpSocket, this.exitFile, this.death]) await rm(path, { force: true });
  }

  async remove(): Promise<void> {
    // A file of the last moment may appear meanwhile.
    await rm(this.path, { recursive: true, force: true, maxRetries: 3, retryDelay: 10 });
  }
}

async function readJson<T>(path: string): Promise<T | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T;
  } catch (error) {
    // A file that power loss cut short is as good as none.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return null;
    throw error;
  }
}

async function replaceJson(path: string, value: object): Promise<void> {
  const next = `${path}.new`;
  const file = await open(next, 'w', 0o600);
  try {
    await file.write(`${JSON.stringify(value)}\n`);
  } finally {
    await file.close();
  }
  await rename(next, path);
}

/** Whether a name may be an agent's: what else lies among the folders is nobody's concern here. */
export function isAgentId(name: string): boolean {
  return /^[a-z0-9][a-z0-9-]{0,31}$/.test(name);
}
