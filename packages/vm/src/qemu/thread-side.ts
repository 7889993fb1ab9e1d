/** The side of a `Thread` that does the work. Imports nothing of ours: a thread is ready as soon as its own code is loaded. */
import type { MessagePort } from 'node:worker_threads';

export type Answer =
  | { readonly value: unknown }
  | { readonly failure: { readonly code?: string; readonly message: string } };

/** Answers jobs by `work`, one after another. */
export function answerJobs(port: MessagePort | null, work: (job: unknown) => unknown): void {
  port?.on('message', (job: unknown) => {
    try {
      port.postMessage({ value: work(job) } satisfies Answer);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      port.postMessage({ failure: { ...(code === undefined ? {} : { code }), message } } satisfies Answer);
    }
  });
}
