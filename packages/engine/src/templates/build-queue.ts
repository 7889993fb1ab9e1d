import type { RuntimeKind } from '@lodge/domain';

/** One build at a time: two would only slow each other. A runtime that somebody waits for goes first, else who came first. */
export class BuildQueue {
  private readonly isAwaited: (kind: RuntimeKind) => boolean;
  private readonly waiting: { readonly kind: RuntimeKind; readonly begin: () => void }[] = [];
  private isBusy = false;

  constructor(isAwaited: (kind: RuntimeKind) => boolean = () => false) {
    this.isAwaited = isAwaited;
  }

  get isIdle(): boolean {
    return !this.isBusy;
  }

  /** A runtime whose template cannot be made does not hold up another's between its tries. */
  async run<T>(kind: RuntimeKind, signal: AbortSignal, build: () => Promise<T>): Promise<T> {
    if (this.isBusy) await new Promise<void>((begin) => this.waiting.push({ kind, begin }));
    this.isBusy = true;
    try {
      signal.throwIfAborted();
      return await build();
    } finally {
      this.isBusy = false;
      this.next();
    }
  }

  private next(): void {
    const awaited = this.waiting.findIndex(({ kind }) => this.isAwaited(kind));
    const [next] = this.waiting.splice(Math.max(awaited, 0), 1);
    // Nobody who comes between now and then begins beside it.
    this.isBusy = next !== undefined;
    next?.begin();
  }
}
