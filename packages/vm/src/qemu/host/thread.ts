/** Threads for work that would block the event loop: one job, one answer. */
import { Worker } from 'node:worker_threads';
import type { Answer } from './thread-side.ts';
import { abortError, throwIfAborted } from '../../waiting.ts';

/** A thread that runs a module of Lodge. It takes tens of milliseconds to be ready: start it before it is needed. */
export class Thread<Job> {
  private readonly worker: Worker;
  private readonly started: Promise<void>;

  constructor(module: URL) {
    // The thread must not inherit options for a debugger or a profiler.
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

  /** Returns the thread's answer. Rejects with the error that ended the job, with its `code`, or when the signal fires. */
  async run<T>(job: Job, signal: AbortSignal): Promise<T> {
    throwIfAborted(signal);
    const answer = Promise.withResolvers<Answer>();
    const giveUp = (): void => answer.reject(abortError(signal));
    this.worker.once('message', answer.resolve);
    this.worker.once('error', answer.reject);
    this.worker.once('exit', () => answer.reject(new Error('the thread ended')));
    signal.addEventListener('abort', giveUp);
    // A running job keeps the process alive.
    this.worker.ref();
    try {
      // The empty list means that the job is copied and nothing is transferred.
      this.worker.postMessage(job, []);
      const found = await answer.promise;
      if ('value' in found) return found.value as T;
      throw Object.assign(new Error(found.failure.message), { code: found.failure.code });
    } finally {
      signal.removeEventListener('abort', giveUp);
      this.worker.unref();
    }
  }

  /** Resolves when the thread has stopped. */
  async end(): Promise<void> {
    await this.worker.terminate();
  }
}
