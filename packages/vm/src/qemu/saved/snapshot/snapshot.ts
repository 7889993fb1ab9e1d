/**
 * One agent's snapshot on disk: `<run directory>/snapshot/`, beside the disk whose state it belongs to.
 *
 *   memory    the pages of the guest's memory that were the VM's own, one after another
 *   devices   device state, as QEMU wrote it
 *   data      of a VM that is backed up: its guest's data folders, as a tar archive
 *   manifest  the manifest's SHA-256 in a line of its own, then the manifest as JSON; 0600, for it holds secrets
 *
 * It appears whole, by rename from `snapshot.new`, and is gone, by rename to `snapshot.used`, before the guest runs again in
 * any way. So as long as it exists, the disk is unchanged. That name is the whole protocol; a kill anywhere leaves one of
 * the three, and the two others are removed.
 */
import { createHash } from 'node:crypto';
import {
  access,
  chmod,
  chown,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  statfs,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { ifThere, wasThere } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import type { Machine, RuntimeFacts } from '@lodge/ports';
import { exists, syncFile } from '../../host/files.ts';
import type { SavedOn } from '../../machine/saved-on.ts';
import { Thread } from '../../host/thread.ts';
import type { LayJob, SavedPages, SaveJob } from './page-job.ts';

/** The base beneath the pages of a snapshot: the template's memory file, a file of the VM's own folder, or nothing. */
export type MemoryBase = 'template' | 'whole' | 'none';

export interface SnapshotFacts {
  readonly templateId: string;
  readonly base: MemoryBase;
  /** Emulator, accelerator and devices: device state loads if all of it is the same. */
  readonly stateKey: string;
  /** Explains why it does not load; absent in snapshots of older releases. */
  readonly savedOn?: SavedOn;
  /**
   * The browser's disk that its guest may have mounted: it must find the same bytes. Null for zeroes; absent: the machine has
   * no such device, as in snapshots of older releases.
   */
  readonly browser?: string | null;
  /** The VM's machine; `plugged` is the size of its devices, which is larger if the guest was made smaller. */
  readonly machine: Machine;
  readonly plugged: { readonly vcpus: number; readonly memoryMib: number };
  readonly facts: RuntimeFacts;
  /** The credential by which the daemon in its memory knows the host; absent where it knows none. */
  readonly credential?: string;
}

interface Manifest extends SnapshotFacts {
  readonly version: 1;
  /** State of the disk: its size and when it was last written. */
  readonly disk: string;
  readonly devices: { readonly bytes: number; readonly sum: number };
  /** `index` and `sums` are the little-endian words of `SavedPages`, in base64. */
  readonly pages: { readonly bytes: number; readonly index: string; readonly sums: string };
}

/** A snapshot with a valid manifest and the disk that it belongs to. Its pages are checked as they are read. */
export interface LoadableSnapshot extends SnapshotFacts {
  readonly devicesPath: string;
  readonly pagesPath: string;
  readonly pages: SavedPages;
}

/** The files of a snapshot that is being written. */
export interface SnapshotDraft {
  readonly devicesPath: string;
  readonly pagesPath: string;
  readonly dataPath: string;
}

export class Snapshot {
  private readonly folder: string;
  private readonly disk: string;

  constructor(folder: string, disk: string) {
    this.folder = folder;
    this.disk = disk;
  }

  private get path(): string {
    return join(this.folder, 'snapshot');
  }
  private get draftPath(): string {
    return join(this.folder, 'snapshot.new');
  }
  private get usedPath(): string {
    return join(this.folder, 'snapshot.used');
  }

  exists(): Promise<boolean> {
    return exists(this.path);
  }

  /** Bytes that it occupies on the disk, with drafts. */
  async diskBytes(): Promise<number> {
    let blocks = 0;
    for (const folder of [this.path, this.draftPath, this.usedPath]) {
      const names = await readdir(folder).catch(() => []);
      for (const name of names) blocks += (await stat(join(folder, name)).catch(() => null))?.blocks ?? 0;
    }
    return blocks * 512;
  }

  /** Makes an empty folder for a draft. QEMU, running as `uid`, may write the device state and nothing else there. */
  async draft(uid: number): Promise<SnapshotDraft> {
    await rm(this.draftPath, { recursive: true, force: true });
    await mkdir(this.draftPath, { mode: 0o700 });
    const draft = {
      devicesPath: join(this.draftPath, 'devices'),
      pagesPath: join(this.draftPath, 'memory'),
      dataPath: join(this.draftPath, 'data'),
    };
    await (await open(draft.devicesPath, 'wx', 0o600)).close();
    await chown(draft.devicesPath, uid, uid);
    await chown(this.draftPath, 0, uid);
    await chmod(this.draftPath, 0o710);
    return draft;
  }

  /** The path of the guest's data folders, when the snapshot is of a backed-up VM. */
  get dataPath(): string {
    return join(this.path, 'data');
  }

  hasData(): Promise<boolean> {
    return access(this.dataPath).then(
      () => true,
      () => false,
    );
  }

  /** Makes it an ordinary snapshot. Succeeds if the data is absent. */
  async dropData(): Promise<void> {
    await rm(this.dataPath, { force: true });
    if (await this.exists()) await syncFile(this.path);
  }

  /**
   * Makes a draft the snapshot. The pages are on the disk already, and the guest stands still. Returns its size in bytes.
   */
  async commit(draft: SnapshotDraft, pages: SavedPages, about: SnapshotFacts): Promise<number> {
    await chmod(this.draftPath, 0o700);
    await chown(this.draftPath, 0, 0);
    await chown(draft.devicesPath, 0, 0);
    const devices = await readFile(draft.devicesPath);
    await syncFile(draft.devicesPath);
    const manifest: Manifest = {
      version: 1,
      ...about,
      disk: await this.diskMark(),
      devices: { bytes: devices.length, sum: crc32(devices) },
      pages: { bytes: pages.bytes, index: toBase64(pages.index), sums: toBase64(pages.sums) },
    };
    const json = JSON.stringify(manifest);
    const text = `${sha256(json)}\n${json}`;
    await writeFile(join(this.draftPath, 'manifest'), text, { flag: 'wx', mode: 0o600, flush: true });
    await syncFile(this.draftPath);
    await rm(this.path, { recursive: true, force: true });
    await rename(this.draftPath, this.path);
    await syncFile(this.folder);
    return devices.length + pages.bytes + json.length;
  }

  /** Removes a draft that failed. */
  async discardDraft(): Promise<void> {
    await rm(this.draftPath, { recursive: true, force: true });
  }

  /** Rejects with `snapshot_missing` when there is none, or it was changed. */
  async load(): Promise<LoadableSnapshot> {
    const manifest = await this.manifest();
    if (manifest.disk !== (await this.diskMark())) throw missing('the disk has changed since');
    const devicesPath = join(this.path, 'devices');
    const devices = await readFile(devicesPath).catch(() => null);
    if (devices?.length !== manifest.devices.bytes || crc32(devices) !== manifest.devices.sum) {
      throw missing('its device state is damaged');
    }
    const { index, sums, bytes } = manifest.pages;
    return {
      ...manifest,
      devicesPath,
      pagesPath: join(this.path, 'memory'),
      pages: { bytes, index: fromBase64(index), sums: fromBase64(sums) },
    };
  }

  /** Lets the guest run from here on: no later start finds the snapshot, whatever happens. Succeeds if it is absent. */
  async useUp(): Promise<void> {
    await rm(this.usedPath, { recursive: true, force: true });
    if (await wasThere(rename(this.path, this.usedPath))) await syncFile(this.folder);
  }

  /** Removes drafts and used-up snapshots. */
  async sweep(): Promise<void> {
    for (const path of [this.usedPath, this.draftPath]) await rm(path, { recursive: true, force: true });
  }

  private async manifest(): Promise<Manifest> {
    const text = await ifThere(readFile(join(this.path, 'manifest'), 'utf8'));
    if (text === null) throw missing('there is none');
    const end = text.indexOf('\n');
    const json = text.slice(end + 1);
    if (text.slice(0, end) !== sha256(json)) throw missing('its manifest is damaged');
    const manifest = JSON.parse(json) as Manifest;
    if (manifest.version !== 1) throw missing(`it is of version ${String(manifest.version)}`);
    return manifest;
  }

  private async diskMark(): Promise<string> {
    const found = await stat(this.disk, { bigint: true }).catch(() => null);
    if (!found) throw missing('its disk is gone');
    return `${found.size}:${found.mtimeNs}`;
  }
}

/** A thread that copies pages. */
export function pageThread(): Thread<SaveJob | LayJob> {
  return new Thread(new URL('page-thread.ts', import.meta.url));
}

/** Whether the file system has hardly any room: QEMU does not say why it could not write. */
export async function isFull(path: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize < 16 * 2 ** 20;
}

function missing(why: string): VmError {
  return new VmError('snapshot_missing', `no snapshot to start from: ${why}`);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function toBase64(words: Uint32Array): string {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength).toString('base64');
}

export function fromBase64(text: string): Uint32Array {
  return new Uint32Array(Uint8Array.from(Buffer.from(text, 'base64')).buffer);
}
