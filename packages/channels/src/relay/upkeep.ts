/** What is done for all channels of a deployment, by one who sees them all: no relay does. Several may run side by side. */
import type { ChannelFiles, Log, RelayStore } from '@lodge/ports';
import { Loop } from './loop.ts';
import { usualRelayTimings } from './timings.ts';
import type { RelayTimings } from './timings.ts';

export interface UpkeepOptions {
  readonly store: Pick<RelayStore, 'failUnsent' | 'prune'>;
  readonly files: Pick<ChannelFiles, 'olderThan' | 'remove'>;
  readonly log: Log;
  readonly timings?: Pick<RelayTimings, 'sweepEveryMs'>;
}

export interface Upkeep {
  /** Resolves when the work under way has ended. */
  close(): Promise<void>;
}

/** Answers are sent and messages have their turns long before; a retry by hand finds files as long. */
const fileAgeMs = 2 * 24 * 3_600_000;

export function startUpkeep({ store, files, log, timings = usualRelayTimings }: UpkeepOptions): Upkeep {
  const { sweepEveryMs } = timings;
  const loops = [
    new Loop({ name: 'unsent', everyMs: sweepEveryMs / 12, gapMs: 0, log }, () => store.failUnsent()),
    new Loop({ name: 'sweep', everyMs: sweepEveryMs, gapMs: 0, log }, async () => {
      for (const key of await files.olderThan(new Date(Date.now() - fileAgeMs))) await files.remove(key);
      await store.prune();
    }),
  ];
  return { close: async () => void (await Promise.all(loops.map((loop) => loop.end()))) };
}
