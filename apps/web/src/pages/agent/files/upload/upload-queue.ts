/**
 * Files on their way into a workspace. They go on while the person looks at another page. Two are sent at a time; a large one
 * goes in parts, each of which is sent again by itself after a cut. A file that is there already is replaced only when the
 * person says so.
 */
import { ApiError } from '@lodge/sdk';
import { change, hasCode, lodge, read } from '../../../../api.ts';

export interface UploadItem {
  readonly id: number;
  /** Where it goes. */
  readonly path: string;
  readonly size: number;
  readonly sent: number;
  readonly phase: 'waiting' | 'sending' | 'done' | 'exists' | 'failed';
  readonly error: unknown;
}

interface Job {
  readonly file: File;
  readonly over: AbortController;
  replaces: boolean;
}

export interface GivenFile {
  readonly file: File;
  readonly path: string;
}

const maxAtOnce = 2;
/** Larger files come in parts of this size, which is also how fine their progress is. */
const partBytes = 4 * 1024 * 1024;
const maxFailures = 8;

export class UploadQueue {
  readonly #agentId: string;
  readonly #jobs = new Map<number, Job>();
  readonly #listeners = new Set<() => void>();
  readonly #done = new Set<() => void>();
  #items: readonly UploadItem[] = [];
  #lastId = 0;

  constructor(agentId: string) {
    this.#agentId = agentId;
  }

  readonly items = (): readonly UploadItem[] => this.#items;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Calls back when a file has arrived. */
  readonly onDone = (listener: () => void): (() => void) => {
    this.#done.add(listener);
    return () => this.#done.delete(listener);
  };

  add(files: readonly GivenFile[]): void {
    const added = files.map(({ file, path }): UploadItem => {
      this.#lastId += 1;
      this.#jobs.set(this.#lastId, { file, over: new AbortController(), replaces: false });
      return { id: this.#lastId, path, size: file.size, sent: 0, phase: 'waiting', error: null };
    });
    this.#items = [...this.#items, ...added];
    this.#changed();
    this.#next();
  }

  /** Sends it again; with `replaces`, in place of what is there. */
  again(id: number, replaces = false): void {
    const job = this.#jobs.get(id);
    if (job === undefined) return;
    job.replaces ||= replaces;
    this.#set(id, { phase: 'waiting', sent: 0, error: null });
    this.#next();
  }

  replaceAll(): void {
    for (const { id, phase } of this.#items) if (phase === 'exists') this.again(id, true);
  }

  remove(id: number): void {
    this.#jobs.get(id)?.over.abort();
    this.#jobs.delete(id);
    this.#items = this.#items.filter((item) => item.id !== id);
    this.#changed();
    this.#next();
  }

  /** Removes what has arrived from the list. */
  clear(): void {
    for (const { id, phase } of this.#items) if (phase === 'done') this.#jobs.delete(id);
    this.#items = this.#items.filter(({ phase }) => phase !== 'done');
    this.#changed();
  }

  #next(): void {
    const sending = this.#items.filter(({ phase }) => phase === 'sending').length;
    for (const { id } of this.#items.filter(({ phase }) => phase === 'waiting').slice(0, maxAtOnce - sending)) {
      void this.#send(id);
    }
  }

  async #send(id: number): Promise<void> {
    const job = this.#jobs.get(id);
    const item = this.#items.find((each) => each.id === id);
    if (job === undefined || item === undefined) return;
    this.#set(id, { phase: 'sending' });
    try {
      if (job.file.size <= partBytes) await this.#sendWhole(item.path, job);
      else await this.#sendParts(id, item.path, job);
      this.#set(id, { phase: 'done', sent: item.size });
      for (const listener of this.#done) listener();
    } catch (error) {
      const exists = hasCode(error, 'precondition_failed');
      if (!job.over.signal.aborted) this.#set(id, { phase: exists ? 'exists' : 'failed', error });
    }
    this.#next();
  }

  #sendWhole(path: string, { file, over, replaces }: Job): Promise<unknown> {
    const options = { signal: over.signal, isNew: !replaces };
    return change(() => lodge.files.write(this.#agentId, path, file, options));
  }

  async #sendParts(id: number, path: string, { file, over, replaces }: Job): Promise<void> {
    const { signal } = over;
    const upload = newUploadId();
    let offset = 0;
    let isKnown = true;
    for (let failures = 0; offset < file.size;) {
      try {
        if (isKnown) {
          const part = file.slice(offset, offset + partBytes);
          const from = offset;
          ({ offset } = await change(() => lodge.uploads.append(this.#agentId, upload, from, part, { signal })));
        } else ({ offset } = await read(lodge.uploads.get(this.#agentId, upload, { signal })));
        isKnown = true;
        failures = 0;
        this.#set(id, { sent: offset });
      } catch (error) {
        failures += 1;
        isKnown = false;
        if (signal.aborted || !isPassing(error) || failures > maxFailures) {
          void change(() => lodge.uploads.delete(this.#agentId, upload)).catch(() => undefined);
          throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, Math.min(8_000, 250 * 2 ** failures)));
      }
    }
    const body = { path, size: file.size };
    await change(() => lodge.uploads.finish(this.#agentId, upload, body, { signal, isNew: !replaces }));
  }

  #set(id: number, changed: Partial<UploadItem>): void {
    this.#items = this.#items.map((item) => (item.id === id ? { ...item, ...changed } : item));
    this.#changed();
  }

  #changed(): void {
    const isBusy = this.#items.some(({ phase }) => phase === 'sending' || phase === 'waiting');
    // A closed tab would end them.
    if (isBusy) window.addEventListener('beforeunload', askBeforeClosing);
    else window.removeEventListener('beforeunload', askBeforeClosing);
    for (const listener of this.#listeners) listener();
  }
}

const askBeforeClosing = (event: BeforeUnloadEvent): void => event.preventDefault();

const isPassing = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.status === 0 || error.status === 429 || error.status >= 500 || error.code === 'file_conflict');

/** An id that no other upload has. `randomUUID` is missing in pages without TLS. */
function newUploadId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const queues = new Map<string, UploadQueue>();

export function uploadsOf(agentId: string): UploadQueue {
  const queue = queues.get(agentId) ?? new UploadQueue(agentId);
  queues.set(agentId, queue);
  return queue;
}
