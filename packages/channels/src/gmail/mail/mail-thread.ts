import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { ownMemory } from './mail-jobs.ts';
import { FairGate, NamedError } from '@lodge/domain';
import type { MailJob, MailResult, MailResults } from './mail-jobs.ts';

export interface MailThreadLimits {
  /** For one job, in ms. A mail of 36 MiB takes 0.7 s on a quiet host. */
  readonly timeoutMs: number;
  /** A thread without a job for so long is ended: it holds 20 MiB. */
  readonly idleMs: number;
  /** Mails that are fetched and read at once, each of up to 72 MiB, and one of a mailbox. */
  readonly mails: number;
}

const usualLimits: MailThreadLimits = { timeoutMs: 20_000, idleMs: 30_000, mails: 3 };
const maxHeapMib = 512;
/** For a thread to begin. When that fails no mail is to blame. */
const startMs = 60_000;

/** A mail could not be read in the time and memory that it had. */
export class UnreadableError extends NamedError {
  constructor(cause?: unknown) {
    super('the mail could not be read', { cause });
  }
}

/**
 * Reads mail in a thread of its own, one at a time: a mail of the largest size takes a second. Mailboxes take turns, however much
 * mail each of them has. A thread that takes too long, or too much memory, is ended with its mail, and the next mail gets another.
 */
export class MailThread {
  readonly #limits: MailThreadLimits;
  readonly #mails: FairGate;
  readonly #jobs = new FairGate({ inAll: 1, perName: 1 });
  #worker: Worker | null = null;
  #idle: NodeJS.Timeout | undefined;
  #waiting = 0;

  constructor(limits: MailThreadLimits = usualLimits) {
    this.#limits = limits;
    this.#mails = new FairGate({ inAll: limits.mails, perName: 1 });
  }

  /** Fetches a mail of this mailbox and does the job with it. At most `mails` of them are in memory at once. */
  withMail<Mail, Done>(
    mailbox: string,
    fetch: () => Promise<Mail>,
    work: (answer: Mail) => Promise<Done> | Done,
  ): Promise<Done> {
    return this.#mails.through(mailbox, async () => work(await fetch()));
  }

  /** Rejects with `UnreadableError`, and with another error when no thread begins. */
  async run<Kind extends MailJob['kind']>(
    mailbox: string,
    job: Extract<MailJob, { kind: Kind }>,
  ): Promise<MailResults[Kind]> {
    clearTimeout(this.#idle);
    this.#waiting += 1;
    try {
      return (await this.#jobs.through(mailbox, () => this.#run(job))) as MailResults[Kind];
    } finally {
      this.#rest();
    }
  }

  async #run(job: MailJob): Promise<MailResults[MailJob['kind']]> {
    const worker = this.#worker ?? (await this.#begun());
    this.#worker = worker;
    let answer: MailResult;
    try {
      const said = messageOf(worker, this.#limits.timeoutMs);
      worker.postMessage(job, job.kind === 'html' ? [] : ownMemory(job.answer));
      answer = (await said) as MailResult;
    } catch (error) {
      this.#worker = null;
      await worker.terminate();
      throw new UnreadableError(error);
    }
    if ('failed' in answer) throw new UnreadableError();
    return answer.result;
  }

  async #begun(): Promise<Worker> {
    const worker = newWorker();
    try {
      await messageOf(worker, startMs);
      worker.once('exit', () => {
        if (this.#worker === worker) this.#worker = null;
      });
      return worker;
    } catch (error) {
      await worker.terminate();
      throw new Error('the mail thread did not begin', { cause: error });
    }
  }

  #rest(): void {
    this.#waiting -= 1;
    if (this.#waiting > 0) return;
    this.#idle = setTimeout(() => {
      void this.#worker?.terminate();
      this.#worker = null;
    }, this.#limits.idleMs);
    this.#idle.unref();
  }
}

/** Returns a thread's next message. */
async function messageOf(worker: Worker, timeoutMs: number): Promise<unknown> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(new Error('too slow')), timeoutMs);
  const ended = once(worker, 'exit', { signal: over.signal }).then(() => {
    throw new Error('its thread ended');
  });
  try {
    const [message] = (await Promise.race([once(worker, 'message', { signal: over.signal }), ended])) as [unknown];
    return message;
  } finally {
    clearTimeout(timer);
    over.abort();
    ended.catch(() => undefined);
  }
}

function newWorker(): Worker {
  const worker = new Worker(new URL('mail-worker.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMib },
    // Nothing that the process was given is its business.
    env: {},
    argv: [],
    execArgv: [],
  });
  worker.unref();
  // Where it matters somebody waits for it.
  worker.on('error', () => {});
  return worker;
}
