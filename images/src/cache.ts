/**
 * The folders that builders of one host share:
 *
 *   images/<id>/    finished images          parts/<kind>-<hash>/    parts that several images are made from
 *   browser/<id>/   the browser's disk
 *   locks/<name>    one for each of them     drafts/<name>.<random>/ in progress, or left by a killed builder
 *
 * Only the holder of a name's lock writes that name.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReportProgress } from '@lodge/ports';
import { findArtifact, publishArtifact, type Artifact, type Facts } from './artifact.ts';
import { ImageError } from './errors.ts';
import { takeLock, tryLock } from './lock.ts';

export interface Making {
  /** The folder of the artifact. */
  readonly shelf: 'images' | 'parts' | 'browser';
  readonly name: string;
  /** The name for a person, as in "waiting for another builder of …". */
  readonly title: string;
  /** Fills `draft` with the artifact's files; `scratch` is for everything else. Returns facts for the manifest. */
  readonly make: (draft: string, scratch: string) => Promise<Facts>;
}

export class Cache {
  private readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  folderOf(making: Pick<Making, 'shelf' | 'name'>): string {
    return join(this.folder, making.shelf, making.name);
  }

  find(making: Pick<Making, 'shelf' | 'name'>): Promise<Artifact | null> {
    return findArtifact(this.folderOf(making));
  }

  /** Finds or makes the artifact. One of several builders makes it, and the others wait. */
  async ensure(making: Making, progress: ReportProgress, signal: AbortSignal): Promise<Artifact> {
    const early = await this.find(making);
    if (early !== null) return early;
    await this.makeFolders();
    const lockName = `${making.shelf}-${making.name}`;
    const lock = await takeLock(this.lockFile(lockName), signal, () => {
      progress(`waiting for another builder of ${making.title}`);
    });
    try {
      return (await this.find(making)) ?? (await this.makeNow(making, lockName));
    } finally {
      await lock.release();
    }
  }

  /** Removes the drafts of killed builders. */
  async collectDrafts(): Promise<void> {
    await this.makeFolders();
    for (const entry of await readdir(join(this.folder, 'drafts'))) {
      const lock = await tryLock(this.lockFile(entry.slice(0, entry.lastIndexOf('.'))));
      if (lock === null) continue;
      await rm(join(this.folder, 'drafts', entry), { recursive: true, force: true });
      await lock.release();
    }
  }

  private async makeNow(making: Making, lockName: string): Promise<Artifact> {
    const own = join(this.folder, 'drafts', `${lockName}.${randomBytes(4).toString('hex')}`);
    const draft = join(own, 'draft');
    const scratch = join(own, 'scratch');
    await mkdir(draft, { recursive: true });
    await mkdir(scratch);
    try {
      const facts = await making.make(draft, scratch);
      return await publishArtifact(draft, this.folderOf(making), facts);
    } finally {
      await rm(own, { recursive: true, force: true });
    }
  }

  private lockFile(name: string): string {
    return join(this.folder, 'locks', name);
  }

  private async makeFolders(): Promise<void> {
    try {
      for (const name of ['locks', 'drafts']) await mkdir(join(this.folder, name), { recursive: true, mode: 0o755 });
    } catch (error) {
      throw new ImageError(`the cache folder ${this.folder} cannot be written; choose another one`, { cause: error });
    }
  }
}
