/** The processes of a storm: each is `worker.ts` with a job, to be killed and followed by another one. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Job } from './worker.ts';

interface Worker {
  readonly child: ChildProcess;
  /** Whatever it said last. */
  report: unknown;
}

export class Workers {
  private readonly job: Job;
  private readonly all: Worker[] = [];

  constructor(job: Job) {
    this.job = job;
  }

  /** Starts the n-th, which works as soon as this resolves. */
  async start(n = 0): Promise<void> {
    const child = fork(new URL('worker.ts', import.meta.url), [], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { PATH: process.env['PATH'] },
      execArgv: [],
    });
    const worker: Worker = { child, report: null };
    this.all[n] = worker;
    child.on('message', (report) => (worker.report = report));
    child.send(this.job, () => undefined);
    const ended = once(child, 'exit').then(() =>
      Promise.reject(new Error(`the worker of ${this.job.of} ended by itself`)),
    );
    await Promise.race([once(child, 'message'), ended]);
    ended.catch(() => undefined);
  }

  /** Returns the last message of the n-th. */
  reportOf(n = 0): unknown {
    return this.all[n]?.report ?? null;
  }

  async kill(n = 0): Promise<void> {
    const { child } = this.all[n]!;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  async replace(n = 0): Promise<void> {
    await this.kill(n);
    await this.start(n);
  }

  close(): void {
    for (const { child } of this.all) child.kill('SIGKILL');
  }
}
