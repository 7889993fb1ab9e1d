/** Threads for work that would hold the event loop up: one job, one answer. */
import { Worker } from 'node:worker_threads';
import type { Answer } from './thread-side.ts';
import { abortError, throwIfAborted } from '../../waiting.ts';

/** A thread of our own code. It takes tens of milliseconds to be ready: start it before it is needed. */
export class Thread<Job> {
  private readonly worker: Worker;
  private readonly started: Promise<void>;

  constructor(module: URL) {
    // Nothing of ours that a debugger or a profiler was told goes along.
    this.worker = new Worker(module, { execArgv: [] });
    this.worker.unref();
    this.started = new Promise((resolve, reject) => {
      this.worker.once('online', resolve);
      this.worker.once('error', reject);
    });
    this.started.catch(() => undefined);
  }

  ready(): Promise<void> {
    return this.started;
  }

  /** What the thread answers. Rejects with the error that the job ended with, its `code` kept, or when the signal fires. */
  async run<T>(job: Job, signal: AbortSignal): Promise<T> {
    throwIfAborted(signal);
    const answer = Promise.withResolvers<Answer>();
    const giveUp = (): void => answer.reject(abortError(signal));
    this.worker.once('message', answer.resolve);
    this.worker.once('error', answer.reject);
    this.worker.once('exit', () => answer.reject(new Error('the thread ended')));
    signal.addEventListener('abort', giveUp);
    // While a job is under way it is waited for.
    this.worker.ref();
    try {
      // Copied, not handed over: an empty list of what is.
      this.worker.postMessage(job, []);
      const found = await answer.promise;
      if ('value' in found) return found.value as T;
      throw Object.assign(new Error(found.failure.message), { code: found.failure.code });
    } finally {
      signal.removeEventListener('abort', giveUp);
      this.worker.unref();
    }
  }

  /** Resolves when the thread does nothing more. */
  async end(): Promise<void> {
    await this.worker.terminate();
  }
}
