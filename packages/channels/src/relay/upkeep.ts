/**
 * Work for all channels of a deployment, done by a process that sees them all: no relay does. Several may run side by side.
 */
import type { ChannelFiles, Log, RelayStore } from '@lodge/ports';
import { Loop } from './loop.ts';
import { usualRelayTimings } from './timings.ts';
import type { RelayTimings } from './timings.ts';

export interface UpkeepOptions {
  readonly store: Pick<RelayStore, 'failUnsent' | 'unneededFiles' | 'prune'>;
  readonly files: Pick<ChannelFiles, 'olderThan' | 'remove'>;
  readonly log: Log;
  readonly timings?: Pick<RelayTimings, 'sweepEveryMs'>;
}

export interface Upkeep {
  /** Resolves when the running work has ended. */
  close(): Promise<void>;
}

/** Longer than the time until answers are sent and messages have their turns; a retry by hand finds files this long. */
const fileAgeMs = 2 * 24 * 3_600_000;
/**
 * A file that is over is removed at once by who ends it. Such a file belongs to a process that died before it reported the
 * file: a process writes a file and reports it well within this time.
 */
const unneededAgeMs = 3_600_000;
const keysAtOnce = 1_000;

export function startUpkeep({ store, files, log, timings = usualRelayTimings }: UpkeepOptions): Upkeep {
  const { sweepEveryMs } = timings;
  const loops = [
    new Loop({ name: 'unsent', everyMs: sweepEveryMs / 12, gapMs: 0, log }, () => store.failUnsent()),
    new Loop({ name: 'sweep', everyMs: sweepEveryMs, gapMs: 0, log }, async () => {
      await sweepFiles(store, files);
      await store.prune();
    }),
  ];
  return { close: async () => void (await Promise.all(loops.map((loop) => loop.end()))) };
}

/** Afterwards only young files and those that a row needs exist, whatever happened to earlier processes. */
export async function sweepFiles(store: UpkeepOptions['store'], files: UpkeepOptions['files']): Promise<void> {
  const olderThan = (ageMs: number): Promise<readonly string[]> => files.olderThan(new Date(Date.now() - ageMs));
  for (const key of await olderThan(fileAgeMs)) await files.remove(key);
  const keys = await olderThan(unneededAgeMs);
  for (let from = 0; from < keys.length; from += keysAtOnce) {
    const unneeded = await store.unneededFiles(keys.slice(from, from + keysAtOnce));
    for (const key of unneeded) await files.remove(key);
  }
}
