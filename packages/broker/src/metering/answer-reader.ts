import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { FairGate } from '@lodge/domain';
import type { LlmApi } from '@lodge/ports';
import type { AnswerKind, AnswerRead } from './answer.ts';
import type { MeterState } from './token-meter.ts';

/** One answer to be read, as plain data. */
export interface AnswerJob {
  readonly kind: AnswerKind;
  readonly bytes: Uint8Array;
  readonly api: LlmApi;
  readonly secrets: readonly string[];
  readonly meter: MeterState;
}

export interface AnswerResult extends AnswerRead {
  readonly meter: MeterState;
}

/** Smaller pieces may share their memory with others. */
const ownedBytes = 256 * 1024;

/** Memory that goes to another thread without a copy: its former owner loses it. */
export function ownMemory(bytes: Uint8Array): ArrayBuffer[] {
  const { buffer, byteOffset, length } = bytes;
  return length > ownedBytes && byteOffset === 0 && buffer instanceof ArrayBuffer ? [buffer] : [];
}

/** Time for a thread to begin, and for an answer to be read: a hundred times what either takes on a quiet host. */
const deadlineMs = 30_000;
const maxHeapMib = 512;

/**
 * Reads large answers in a thread of its own, one at a time, the agents taking turns. A thread that takes too long, or
 * too much memory, is ended with its answer, and the next answer gets another.
 */
export class AnswerReader {
  readonly #turns = new FairGate({ inAll: 1 });
  #worker: Worker | null = null;
  #isClosed = false;

  /** Rejects when the answer cannot be read in time. */
  read(agentId: string, job: AnswerJob): Promise<AnswerResult> {
    return this.#turns.through(agentId, async () => {
      try {
        return await this.#readBeside(job);
      } catch (error) {
        await this.#worker?.terminate();
        this.#worker = null;
        throw new Error('the answer could not be read', { cause: error });
      }
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }

  async #readBeside(job: AnswerJob): Promise<AnswerResult> {
    if (this.#isClosed) throw new Error('closed');
    if (!this.#worker) {
      this.#worker = newWorker();
      await said(this.#worker);
    }
    const answer = said(this.#worker);
    this.#worker.postMessage(job, ownMemory(job.bytes));
    return (await answer) as AnswerResult;
  }
}

/** Returns a thread's next message; a thread sends one when it has begun, and then one for each job. */
async function said(worker: Worker): Promise<unknown> {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(deadlineMs)]);
  const ended = once(worker, 'exit', { signal }).then(() => {
    throw new Error('its thread ended');
  });
  try {
    const [message] = (await Promise.race([once(worker, 'message', { signal }), ended])) as [unknown];
    return message;
  } finally {
    over.abort();
  }
}

function newWorker(): Worker {
  const worker = new Worker(new URL('answer-worker.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMib },
    // Nothing that the process was given is its business.
    env: {},
    argv: [],
  });
  worker.unref();
  // Where it matters somebody waits for it.
  worker.on('error', () => {});
  return worker;
}
