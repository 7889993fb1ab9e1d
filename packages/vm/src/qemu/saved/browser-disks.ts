/**
 * The browser's disks that this Lodge uses: `<dataDir>/browser/<id>-<file>`, links to the built ones in the cache, or copies
 * where that is another file system. Nothing is built, linked or copied before somebody wants a browser:
 *
 *   wanted -> built in the cache (one builder of the host builds, the others wait) -> taken, by one rename -> current
 *          -> failed: told to all that ask, and tried again after a while
 *
 * Machines start with the current one. A running guest keeps the disk that it sees: it may be mounted. So does a snapshot,
 * whose guest has the disk's contents in its memory. A disk stays until it is not current and no record names it. A kill
 * leaves a `.taking-` file, which the next start removes.
 */
import { rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { atMost } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import type { BrowserDiskBuilder, BrowserShown, Log } from '@lodge/ports';
import { freeSpace } from '../host/capacity.ts';
import { entries, exists, passableFolder, syncFile } from '../host/files.ts';
import { copyFile, linkFile } from '../host/take-file.ts';
import type { BrowserBacking } from '../machine/browser-device.ts';

export interface BrowserDisksOptions {
  readonly dataDir: string;
  /** Where the builder works. */
  readonly cacheDir: string;
  /** Space that must stay free beside a build or a copy, MiB. */
  readonly diskFloorMib: number;
  /** Default: there is no browser. */
  readonly browserDisk?: BrowserDiskBuilder;
  readonly log: Log;
}

const taking = '.taking-';
/** A disk that is built already is taken within this time, so that the first question finds it. */
const shortMs = 500;
/** Space that a build takes at its peak: packages, two trees and the disk. */
const buildMib = 4096;
const retryMs = 5 * 60_000;
const mib = 2 ** 20;

export class BrowserDisks {
  private readonly root: string;
  private readonly options: BrowserDisksOptions;
  private readonly stopping = new AbortController();
  private currentName: string | null = null;
  private underway: Promise<void> | null = null;
  private step = '';
  private failure: { readonly message: string; readonly at: number } | null = null;

  constructor(options: BrowserDisksOptions) {
    this.root = join(options.dataDir, 'browser');
    this.options = options;
  }

  /** Finds what an earlier process took, and removes the remains of a kill. */
  async start(): Promise<void> {
    let newest = -Infinity;
    for (const name of await entries(this.root)) {
      const path = join(this.root, name);
      if (name.startsWith(taking)) await rm(path, { force: true });
      // The time of the link: the disk that was taken last.
      const { ctimeMs } = name.startsWith(taking) ? { ctimeMs: -Infinity } : await stat(path);
      if (ctimeMs > newest) [newest, this.currentName] = [ctimeMs, name];
    }
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.underway;
  }

  /** The disk of machines that start now; null when there is none yet, or somebody removed it: no start fails for that. */
  async current(): Promise<string | null> {
    if (this.currentName !== null && !(await this.has(this.currentName))) this.currentName = null;
    return this.currentName;
  }

  /** The backing of a machine's device, by the name in its record; null for a machine without the device. */
  backing(name: string | null | undefined): BrowserBacking | null {
    if (name === undefined) return null;
    return { file: name === null ? null : this.path(name) };
  }

  path(name: string): string {
    return join(this.root, name);
  }

  has(name: string): Promise<boolean> {
    return exists(this.path(name));
  }

  /** Sees to it that there is a present disk, and waits a moment. Returns the current one, or why there is none yet. */
  async want(): Promise<string | BrowserShown> {
    const { browserDisk } = this.options;
    if (!browserDisk) return { state: 'failed', message: 'This Lodge has no recipe of a browser.' };
    const id = await browserDisk.id();
    const isPresent = (await this.current())?.startsWith(`${id}-`) ?? false;
    const isResting = this.failure !== null && performance.now() - this.failure.at < retryMs;
    if (!isPresent && !isResting && !this.stopping.signal.aborted) this.underway ??= this.build(browserDisk);
    if (this.currentName === null && this.underway) await atMost(shortMs, this.underway, () => undefined);
    if (this.currentName !== null) return this.currentName;
    if (this.underway || !this.failure) return { state: 'building', message: this.step };
    return { state: 'failed', message: this.failure.message };
  }

  /** Removes the disks that are not current and that `needed` does not name. */
  async collect(needed: ReadonlySet<string>): Promise<void> {
    for (const name of await entries(this.root)) {
      if (name === this.currentName || name.startsWith(taking) || needed.has(name)) continue;
      await rm(this.path(name), { force: true });
    }
  }

  private async build(builder: BrowserDiskBuilder): Promise<void> {
    const { cacheDir, diskFloorMib, log } = this.options;
    this.step = 'preparing the browser';
    try {
      const progress = (step: string): void => void (this.step = step);
      if ((await builder.find()) === null) {
        // An emptied cache may be gone.
        await passableFolder(cacheDir);
        await assertRoom(cacheDir, buildMib + diskFloorMib);
      }
      const { id, path } = await builder.ensure(progress, this.stopping.signal);
      this.currentName = await this.take(path, `${id}-${basename(path)}`);
      this.failure = null;
      log.info({ disk: this.currentName }, 'the disk of the browser is there');
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      this.failure = { message: error instanceof Error ? error.message : String(error), at: performance.now() };
      log.error({ err: error }, 'the disk of the browser was not made; it is tried again');
    } finally {
      this.underway = null;
    }
  }

  private async take(from: string, name: string): Promise<string> {
    const to = this.path(name);
    if (await exists(to)) return name;
    await passableFolder(this.root);
    const draft = this.path(`${taking}${name}`);
    await rm(draft, { force: true });
    if (!(await linkFile(from, draft))) {
      const { blocks } = await stat(from);
      await assertRoom(this.root, Math.ceil((blocks * 512) / mib) + this.options.diskFloorMib);
      await copyFile(from, draft);
    }
    await rename(draft, to);
    await syncFile(this.root);
    return name;
  }
}

async function assertRoom(folder: string, neededMib: number): Promise<void> {
  const { freeMib } = await freeSpace(folder);
  if (freeMib >= neededMib) return;
  throw new VmError('disk_full', `the browser needs ${neededMib} MiB in ${folder}, and ${freeMib} MiB are free`);
}
