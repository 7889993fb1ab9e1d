import type { FolderOptions, FolderProgress } from './options.ts';
import type { OnProgress } from '../http/upload.ts';

export interface Planned {
  readonly path: string;
  readonly size: number;
}

const defaultConcurrency = 4;

/** Does the work of each item, some at once. The first failure ends the others, and is thrown when they have ended. */
export async function inParallel<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  { signal, concurrency = defaultConcurrency }: Pick<FolderOptions, 'signal' | 'concurrency'>,
  work: (item: Item, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const abort = (): void => stop.abort(signal?.reason);
  signal?.throwIfAborted();
  signal?.addEventListener('abort', abort, { once: true });
  const failures: unknown[] = [];
  const failed = (error: unknown): void => {
    failures.push(error);
    stop.abort(error);
  };
  const underWay = new Set<Promise<void>>();
  try {
    for await (const item of items) {
      if (stop.signal.aborted) break;
      const done = work(item, stop.signal).catch(failed);
      const tracked = done.finally(() => underWay.delete(tracked));
      underWay.add(tracked);
      if (underWay.size >= Math.max(1, concurrency)) await Promise.race(underWay);
    }
  } catch (error) {
    failed(error);
  } finally {
    await Promise.all(underWay);
    signal?.removeEventListener('abort', abort);
  }
  signal?.throwIfAborted();
  if (failures.length > 0) throw failures[0];
}

/** Counts the files and bytes of a folder, and tells of them. */
export class Tally {
  readonly #tell: ((progress: FolderProgress) => void) | undefined;
  readonly #underWay = new Map<string, number>();
  #bytes = 0;
  #allBytes = 0;
  #files = 0;
  #allFiles = 0;

  constructor(tell: ((progress: FolderProgress) => void) | undefined) {
    this.#tell = tell;
  }

  get result(): { readonly files: number; readonly bytes: number } {
    return { files: this.#files, bytes: this.#bytes };
  }

  plan(files: readonly Planned[]): void {
    for (const { size } of files) {
      this.#allFiles += 1;
      this.#allBytes += size;
    }
  }

  async *planned(files: AsyncIterable<Planned>): AsyncGenerator<Planned, void> {
    for await (const file of files) {
      this.plan([file]);
      yield file;
    }
  }

  /** The progress of one file. */
  file(path: string): OnProgress {
    return (done) => {
      this.#underWay.set(path, done);
      this.#say(path);
    };
  }

  done(path: string): void {
    this.#files += 1;
    this.#bytes += this.#underWay.get(path) ?? 0;
    this.#underWay.delete(path);
    this.#say(path);
  }

  #say(path: string): void {
    if (this.#tell === undefined) return;
    let bytes = this.#bytes;
    for (const done of this.#underWay.values()) bytes += done;
    this.#tell({ path, bytes, allBytes: this.#allBytes, files: this.#files, allFiles: this.#allFiles });
  }
}
