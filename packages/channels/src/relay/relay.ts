/**
 * A relay: holds connections to messaging platforms for the agents of a deployment, whatever the state of their machines.
 *
 * It keeps no state. Its connections, received messages and unsent messages are in the database. So it may be killed at any
 * moment, and another relay takes over when its leases end. Several run side by side and share the channels.
 */
import type { ChannelName } from '@lodge/domain';
import type { ChannelConnection, Log, OpenedRelayStore, Platform, RelayFiles } from '@lodge/ports';
import { HeldChannels } from './channels.ts';
import { inDoingsOf } from './context.ts';
import { Fetcher } from './fetcher.ts';
import { Loop } from './loop.ts';
import { Progress } from './progress.ts';
import { Sender } from './sender.ts';
import { usualRelayTimings } from './timings.ts';
import type { RelayTimings } from './timings.ts';
import { Typing } from './typing.ts';

export interface RelayOptions {
  readonly store: OpenedRelayStore;
  readonly platforms: readonly Platform[];
  readonly files: RelayFiles;
  /** Names the holder of a lease. */
  readonly name: string;
  readonly log: Log;
  readonly timings?: RelayTimings;
  /** Most channels. */
  readonly maxHeld?: number;
}

export interface Relay {
  /** The number of held channels. */
  readonly held: number;
  /** Null if this relay does not hold the channel, or it is not open yet. */
  connectionOf(agentId: string, channel: ChannelName): ChannelConnection | null;
  /**
   * Handles an uncaught error of the process: closes the connection in whose context it arose, and lets it open again after
   * a while. Null: it is none's. Otherwise resolves when that is written.
   */
  fault(): Promise<void> | null;
  /** Ends connections, gives leases back. Running sends have a few seconds. */
  close(): Promise<void>;
}

const sentWithinMs = 5_000;

export function createRelay(options: RelayOptions): Relay {
  const { store, files, name, log, timings = usualRelayTimings, maxHeld = 5_000 } = options;
  const platforms = new Map(options.platforms.map((platform) => [platform.channel, platform]));
  const loops: Record<string, Loop> = {};
  const wake = (...names: readonly string[]): void => {
    for (const each of names) loops[each]?.wake();
  };
  const onChange = (): void => wake('acquire', 'send', 'fetch');
  const channels = new HeldChannels({ store, platforms, name, maxHeld, log, timings, onChange });
  const sender = new Sender({ store, channels, files, log, timings, onEnd: () => wake('send', 'progress') });
  const fetcher = new Fetcher({ store, channels, files, log, timings, onEnd: () => wake('fetch') });
  const typing = new Typing(store, channels);
  const progress = new Progress({ store, channels, afterMs: timings.progressAfterMs });
  const add = (work: string, everyMs: number, run: () => Promise<number | void>, gapMs = 0): void => {
    loops[work] = new Loop({ name: work, everyMs, gapMs, log }, run);
  };
  add('renew', timings.renewEveryMs, () => channels.renew(), Math.min(1_000, timings.renewEveryMs / 4));
  add('acquire', timings.lookEveryMs, () => channels.acquire(), Math.min(200, timings.lookEveryMs / 4));
  add('send', timings.lookEveryMs, () => sender.look());
  add('fetch', timings.lookEveryMs, () => fetcher.look());
  add('typing', timings.workingEveryMs, () => typing.look());
  add('progress', timings.workingEveryMs, () => progress.look(), Math.min(500, timings.workingEveryMs / 4));
  // A change may concern a held channel: a renewal shows it.
  const forget = store.onWork(({ of }) => (of === 'channel' ? wake('renew', 'acquire') : wake('send', 'fetch')));
  return {
    get held() {
      return channels.all.length;
    },
    connectionOf: (agentId, channel) => channels.find({ agentId, channel })?.connection ?? null,
    fault: () => inDoingsOf()?.fault() ?? null,
    async close() {
      forget();
      await Promise.all(Object.values(loops).map((loop) => loop.end()));
      await Promise.all([sender.close(sentWithinMs), progress.close(sentWithinMs)]);
      await channels.close();
      await fetcher.close();
    },
  };
}
