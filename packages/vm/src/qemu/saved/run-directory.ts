/**
 * The files of one agent's VM: `<dataDir>/vms/<agent id>/`. One at rest is a saved machine (`machine/saved-store.ts`).
 *
 *   vm.json     the record below, replaced atomically; root only
 *   disk.qcow2  the agent's disk, owned by the VM's user while the VM runs, over the layers beside it (`layers.ts`)
 *   memory      the file that its memory lies over, if it was started from a saved machine with one (`machine/whole.ts`)
 *   qmp         QEMU's control socket
 *   qemu.log    what QEMU printed last, and the pipe it comes by (`machine/emulator-log.ts`)
 *   exit        how QEMU ended (`host/reaper.ts`)
 *   death.json  why its VM ended, once that is known (`machine/witness.ts`); root only, for its console is in it
 *
 * The record is written before each step that it announces, so that a control plane that was killed between any two steps
 * finds the work: the slot before the namespace, `removing` before the first removal. A process that was started and not
 * recorded is found by its command line, which names this directory.
 *
 * While QEMU starts, its user's group may write to the directory, because QEMU makes its socket there. The permission ends
 * before the guest runs its first instruction.
 */
import { chmod, chown, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { VmDeath } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import type { Machine, RuntimeFacts } from '@lodge/ports';
import { exists, readJson, replaceFile, syncFile } from '../host/files.ts';
import type { ProcessMark } from '../host/process.ts';
import { wholeName } from './machine/manifest.ts';
import type { MemoryBase } from './snapshot/page-job.ts';

/**
 *   creating -> running -> removing -> (gone, or disk)
 *   disk -> creating
 *
 * `running` covers paused: QEMU knows which, and is asked. Earlier releases had `suspended` (`lifecycle/former-rest.ts`).
 */
export type VmPhase = 'creating' | 'running' | 'removing' | 'disk' | 'suspended';

export interface VmRecord {
  readonly version: 1;
  readonly agentId: string;
  readonly executionId: string;
  readonly phase: VmPhase;
  /** `snapshot` is the word of earlier releases for `memory`. */
  readonly from: 'clone' | 'boot' | 'memory' | 'snapshot';
  /** The base that its memory was laid over: what is saved of it holds the difference. */
  readonly base: MemoryBase;
  readonly machine: Machine;
  /** Whether it was made from the agent's machine at rest, whose place it takes once it is `running`. */
  readonly isOverRest?: true;
  /** The facts of the memory that it was started from. */
  readonly facts: RuntimeFacts | null;
  readonly templateId: string;
  /**
   * The browser's disk that its guest may see (`browser-disks.ts`), written before it does; null for zeroes. Absent: the
   * machine has no device for it, because its saved state is of an earlier release.
   */
  readonly browser?: string | null;
  /** Numbers namespace and user id; null when the VM has neither. */
  readonly slot: number | null;
  readonly address: string | null;
  readonly process: ProcessMark | null;
  /** The host's boot that the process belongs to; absent if an earlier release made the VM. */
  readonly boot?: string;
  /**
   * The present or future credential by which the guest's daemon knows the host; absent if the VM is older than credentials.
   */
  readonly credential?: string;
}

/** The kernel's bound on a unix socket's path, with its closing zero byte. */
const longestSocketPath = 107;

export class RunDirectory {
  readonly agentId: string;
  readonly path: string;

  /** Under a `name` other than the agent's the VM is at rest: no socket is opened there. */
  constructor(root: string, agentId: string, name: string = agentId) {
    if (!isAgentId(agentId)) throw new VmError('failed', `not an agent id: ${agentId}`);
    this.agentId = agentId;
    this.path = join(root, name);
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
  get memory(): string {
    return join(this.path, wholeName);
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

  /** Makes no folder: if it is gone, nobody asks. */
  writeDeath(death: VmDeath): Promise<void> {
    return replaceFile(this.death, `${JSON.stringify(death)}\n`);
  }

  async create(): Promise<void> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
  }

  async write(record: VmRecord): Promise<void> {
    await this.create();
    await replaceFile(this.record, `${JSON.stringify(record)}\n`);
  }

  /** Lets QEMU, as `uid`, make its socket here. The death of an earlier VM no longer matters. */
  async open(uid: number): Promise<void> {
    for (const path of [this.qmpSocket, this.death]) await rm(path, { force: true });
    await chown(this.path, 0, uid);
    await chmod(this.path, 0o770);
  }

  /** From here on only root makes, renames or removes a file here. */
  async seal(): Promise<void> {
    await chmod(this.path, 0o710);
  }

  exists(): Promise<boolean> {
    return exists(this.path);
  }

  /** Makes the disk and its name survive a loss of power. */
  async syncDisk(): Promise<void> {
    for (const path of [this.disk, this.path, join(this.path, '..')]) await syncFile(path);
  }

  async syncRecord(): Promise<void> {
    for (const path of [this.record, this.path]) await syncFile(path);
  }

  /** Protects the disk from the next user of the VM's user id. */
  async close(): Promise<void> {
    await chown(this.disk, 0, 0);
    await chown(this.path, 0, 0);
    await chmod(this.path, 0o700);
    for (const path of [this.qmpSocket, this.exitFile, this.death]) await rm(path, { force: true });
  }

  async remove(): Promise<void> {
    // A file may still appear at the last moment.
    await rm(this.path, { recursive: true, force: true, maxRetries: 3, retryDelay: 10 });
  }
}

/** Whether a name may be an agent's; other folders do not matter here. */
export function isAgentId(name: string): boolean {
  return /^[a-z0-9][a-z0-9-]{0,31}$/.test(name);
}
