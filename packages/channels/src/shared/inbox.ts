/**
 * Bound on frames that wait for a commit. Beyond it a socket is given up: the platform delivers again, or its histories are
 * read.
 */
const maxWaiting = 500;
const maxWaitingBytes = 8 * 1024 * 1024;

interface Task {
  readonly bytes: number;
  run(): Promise<void>;
}

/** Runs one task after another, in the order of arrival. A task that rejects ends the inbox, and the rest is dropped. */
export class Inbox {
  private readonly tasks: Task[] = [];
  private readonly onFailure: (error: unknown) => void;
  private bytes = 0;
  private working: Promise<void> | null = null;
  private isOver = false;

  constructor(onFailure: (error: unknown) => void) {
    this.onFailure = onFailure;
  }

  /** False: there is no room. */
  add(bytes: number, run: () => Promise<void>): boolean {
    if (!this.isOver && (this.tasks.length >= maxWaiting || this.bytes + bytes > maxWaitingBytes)) return false;
    this.addOwn(run, bytes);
    return true;
  }

  /** Lodge's own work, which always has room: at most a few. */
  addOwn(run: () => Promise<void>, bytes = 0): void {
    if (this.isOver) return;
    this.tasks.push({ bytes, run });
    this.bytes += bytes;
    this.working ??= this.work();
  }

  get isIdle(): boolean {
    return this.working === null;
  }

  /** Resolves when nothing waits any more, or the inbox is over. */
  async drained(): Promise<void> {
    while (this.working) await this.working;
  }

  /** Accepts nothing more; resolves when the running task is over. */
  async end(): Promise<void> {
    this.isOver = true;
    this.tasks.length = 0;
    await this.working;
  }

  private async work(): Promise<void> {
    // It never runs within `add`, whose caller may be changing its own state.
    await Promise.resolve();
    try {
      for (let task = this.tasks[0]; task; task = this.tasks[0]) {
        await task.run();
        this.tasks.shift();
        this.bytes = this.isOver ? 0 : this.bytes - task.bytes;
      }
    } catch (error) {
      this.isOver = true;
      this.tasks.length = 0;
      this.onFailure(error);
    } finally {
      this.working = null;
    }
  }
}
