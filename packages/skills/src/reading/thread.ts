import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { FairGate } from '@lodge/domain';
import type { SkillJob, SkillResult } from './jobs.ts';

const jobMs = 30_000;
const maxHeapMib = 256;

/**
 * Unpacks and reviews in a thread of its own, so that nobody else waits for it. Each job has a new thread, which ends with it:
 * nothing of one account's is left for another's. Accounts take turns.
 */
export class SkillThread {
  readonly #gate = new FairGate({ inAll: 1 });

  /** A job that takes too long, or too much memory, is a problem of its skill. */
  run(accountId: string, job: SkillJob, signal: AbortSignal): Promise<SkillResult> {
    return this.#gate.through(accountId, () => resultOf(job, signal), { signal });
  }
}

async function resultOf(job: SkillJob, signal: AbortSignal): Promise<SkillResult> {
  const worker = new Worker(new URL('worker.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMib },
    // Nothing that the process was given is its business.
    env: {},
    argv: [],
    execArgv: [],
  });
  // Where it matters somebody waits for it.
  worker.on('error', () => {});
  const over = AbortSignal.any([signal, AbortSignal.timeout(jobMs)]);
  try {
    worker.postMessage(job, []);
    const [result] = (await once(worker, 'message', { signal: over })) as [SkillResult];
    return result;
  } catch {
    signal.throwIfAborted();
    return { problem: 'it takes too much time or memory to read' };
  } finally {
    await worker.terminate();
  }
}
