import type { Claim, IdempotencyStore, Log } from '@lodge/ports';

/** Time until a killed process is noticed. */
export const leaseMs = 15_000;
const renewEveryMs = 5_000;
/** One account's kept replies fill up in half a minute at worst; new ones are not kept then. */
const pruneEveryMs = 15_000;

/** The claims of this process, renewed for as long as their requests are running. */
export class Claims {
  private readonly store: IdempotencyStore;
  private readonly log: Log;
  private readonly held = new Set<Claim>();
  private timers: NodeJS.Timeout[] = [];

  constructor(store: IdempotencyStore, log: Log) {
    this.store = store;
    this.log = log;
  }

  start(): void {
    const every = (ms: number, what: string, work: () => Promise<void>): void => {
      let underWay: Promise<void> | null = null;
      const timer = setInterval(() => {
        underWay ??= work()
          .catch((error: unknown) => this.log.warn({ err: error }, what))
          .finally(() => {
            underWay = null;
          });
      }, ms);
      this.timers.push(timer.unref());
    };
    every(renewEveryMs, 'claims of idempotent requests were not renewed', async () => {
      if (this.held.size > 0) await this.store.renew([...this.held], leaseMs);
    });
    every(pruneEveryMs, 'old idempotency keys were not removed', () => this.store.prune());
  }

  stop(): void {
    for (const timer of this.timers.splice(0)) clearInterval(timer);
  }

  hold(claim: Claim): void {
    this.held.add(claim);
  }

  drop(claim: Claim): void {
    this.held.delete(claim);
  }
}
