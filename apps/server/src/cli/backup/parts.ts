/**
 * The parts of a backup in the making. Agents hand in their files and wait: as many as there is room to copy are stored at a
 * time. An agent whose files have gone meanwhile, because its machine was started or deleted, hands them in again.
 */
import { rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { BackupError } from '@lodge/backup';
import type { Progress, Repository } from '@lodge/backup';
import type { AgentFiles } from '@lodge/vm/portable';
import { stagingName } from './list.ts';

export interface PartsOptions {
  readonly repository: Repository;
  readonly backup: string;
  readonly dataDir: string;
  /** Space that stays free beside the copies. */
  readonly floorBytes: number;
  readonly onProgress: (progress: Progress) => void;
}

interface Waiting {
  readonly found: AgentFiles;
  readonly done: (part: number) => void;
  readonly fail: (error: Error) => void;
}

export class Parts {
  /** Bytes that were new to the place. */
  addedBytes = 0;
  private readonly options: PartsOptions;
  private waiting: Waiting[] = [];
  private number = 0;
  private joined = Promise.withResolvers<void>();

  constructor(options: PartsOptions) {
    this.options = options;
  }

  /** Resolves with the part that has the files. Rejects with ENOENT if they have gone. */
  join(found: AgentFiles): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.waiting.push({ found, done: resolve, fail: reject });
    this.joined.resolve();
    return promise;
  }

  /** Resolves with the next `join`. */
  nextJoin(): Promise<void> {
    return this.joined.promise;
  }

  listen(): void {
    this.joined = Promise.withResolvers();
  }

  /** Whether another copy as large as those that are there might not fit. */
  async isFull(): Promise<boolean> {
    const { dataDir, floorBytes } = this.options;
    let copiedBytes = 0;
    for (const { found } of this.waiting.filter(({ found: { frozenMs } }) => frozenMs !== null)) {
      for (const { path } of found.files) copiedBytes += (await stat(path)).blocks * 512;
    }
    const { bavail, bsize } = await statfs(dataDir);
    return copiedBytes > 0 && bavail * bsize - floorBytes < copiedBytes;
  }

  /**
   * Stores the waiting agents, and `beside` them the files that must not be missing, relative to the data folder. Returns
   * the part.
   */
  async store(beside: readonly string[]): Promise<number> {
    const { repository, backup, dataDir, onProgress } = this.options;
    const batch = this.waiting.splice(0);
    const relative = (path: string): string => path.slice(dataDir.length + 1);
    const files = [...beside, ...batch.flatMap(({ found }) => found.files.map(({ path }) => relative(path)))];
    if (files.length === 0) return this.number;
    const part = this.number + 1;
    try {
      const scratch = join(dataDir, stagingName);
      const work = { backup, part, folder: dataDir, files, scratch, parent: repository.parentOf(part), onProgress };
      const stored = await repository.store(work);
      this.number = part;
      this.addedBytes += stored.addedBytes;
      await this.settle(batch, beside, stored.files === files.length);
    } catch (error) {
      for (const { fail } of batch) fail(error as Error);
      throw error;
    }
    return part;
  }

  /** Ends all waits, so that nothing is still running after a failed backup. */
  abandon(): void {
    for (const { fail } of this.waiting.splice(0)) fail(new BackupError('The backup has ended.'));
  }

  private async settle(batch: readonly Waiting[], beside: readonly string[], isWhole: boolean): Promise<void> {
    const { dataDir } = this.options;
    if (!isWhole) {
      for (const name of beside) {
        const isThere = await stat(join(dataDir, name)).catch(() => null);
        if (!isThere) throw new BackupError(`${join(dataDir, name)} has gone while the backup was made.`);
      }
    }
    for (const { found, done, fail } of batch) {
      // A copy stays until its agent has the answer.
      if (isWhole || found.frozenMs !== null) done(this.number);
      else fail(Object.assign(new Error('files have gone'), { code: 'ENOENT' }));
    }
    for (const name of beside) if (name.startsWith(`${stagingName}/`)) await rm(join(dataDir, name), { force: true });
  }
}
