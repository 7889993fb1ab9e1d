/**
 * Packs saved machines that nobody has used for an hour, one at a time and by what others leave of a processor. A start from a
 * packed one pays a fraction of a second (docs/adr/0081-saved-machines.md).
 */
import { stat } from 'node:fs/promises';
import { ifThere } from '@lodge/domain';
import type { Log } from '@lodge/ports';
import type { SavedStore } from '../saved/machine/saved-store.ts';

const everyMs = 60_000;
const restMs = 60 * 60_000;

export class PackKeeper {
  private readonly store: SavedStore;
  private readonly log: Log;
  private readonly stopped = new AbortController();
  private timer: NodeJS.Timeout | null = null;
  private looking: Promise<void> | null = null;

  constructor(store: SavedStore, log: Log) {
    this.store = store;
    this.log = log;
  }

  start(): void {
    this.timer = setInterval(() => {
      this.looking ??= this.look().finally(() => (this.looking = null));
    }, everyMs).unref();
  }

  async stop(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    this.stopped.abort();
    await this.looking;
  }

  /** Packs those that rest. Never rejects: one that cannot be packed stays as it is, and its start says why. */
  private async look(): Promise<void> {
    const { signal } = this.stopped;
    for (const id of await this.store.ids()) {
      if (signal.aborted) return;
      const found = await ifThere(stat(this.store.path(id)));
      if (!found || Date.now() - found.ctimeMs < restMs) continue;
      await this.store.pack(id, signal).catch((error: unknown) => {
        if (!signal.aborted) this.log.warn({ saved: id, err: error }, 'a saved machine is not packed');
      });
    }
  }
}
