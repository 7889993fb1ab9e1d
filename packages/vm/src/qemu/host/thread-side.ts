/** The working side of a `Thread`. It imports no module of Lodge, so a thread is ready as soon as its own code is loaded. */
import type { MessagePort } from 'node:worker_threads';

export type Answer =
  | { readonly value: unknown }
  | { readonly failure: { readonly code?: string; readonly message: string } };

/** Answers jobs by `work`, one after another. */
export function answerJobs(port: MessagePort | null, work: (job: unknown) => Promise<unknown>): void {
  const answer = async (job: unknown): Promise<Answer> => {
    try {
      return { value: await work(job) };
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      return { failure: { ...(code === undefined ? {} : { code }), message } };
    }
  };
  port?.on('message', (job: unknown) => void answer(job).then((found) => port.postMessage(found)));
}
