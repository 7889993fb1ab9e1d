/** The channels that this relay holds: takes leases, renews them, and releases channels that it cannot or need not hold. */
import type { ChannelName } from '@lodge/domain';
import type { LeaseRef, Log, OpenedLease, OpenedRelayStore, Platform } from '@lodge/ports';
import { Held } from './held.ts';
import type { RelayTimings } from './timings.ts';

/** Leases taken in one statement. */
const maxAtOnce = 50;
const watchEveryMs = 250;

export interface ChannelsOptions {
  readonly store: OpenedRelayStore;
  readonly platforms: ReadonlyMap<ChannelName, Platform>;
  readonly name: string;
  readonly maxHeld: number;
  readonly log: Log;
  readonly timings: RelayTimings;
  /** A connection has come up, or a channel is free again. */
  readonly onChange: () => void;
}

export const keyOf = ({ agentId, channel }: Pick<LeaseRef, 'agentId' | 'channel'>): string => `${agentId}/${channel}`;

export class HeldChannels {
  private readonly options: ChannelsOptions;
  private readonly held = new Map<string, Held>();
  private readonly unopened: Held[] = [];
  private readonly watch: NodeJS.Timeout;
  private opener: NodeJS.Timeout | null = null;
  private isClosing = false;

  constructor(options: ChannelsOptions) {
    this.options = options;
    // The database may hang, and the leases end all the same.
    this.watch = setInterval(() => this.endOverdue(), Math.min(watchEveryMs, options.timings.marginMs / 4));
  }

  get all(): readonly Held[] {
    return [...this.held.values()];
  }

  /** Channels whose connection reaches the platform. */
  get connected(): readonly Held[] {
    return this.all.filter(
      ({ connection, state, isEnding }) => connection !== null && !isEnding && state.status === 'connected',
    );
  }

  find(of: Pick<LeaseRef, 'agentId' | 'channel'>): Held | undefined {
    const found = this.held.get(keyOf(of));
    return found?.isEnding ? undefined : found;
  }

  /** Returns how soon there may be more, in ms. */
  async acquire(): Promise<number | void> {
    const { store, name, platforms, maxHeld, timings } = this.options;
    const limit = Math.min(maxAtOnce, maxHeld - this.held.size);
    if (this.isClosing || limit <= 0) return;
    const askedAt = performance.now();
    const leases = await store.acquire({
      relay: name,
      channels: [...platforms.keys()],
      limit,
      leaseMs: timings.leaseMs,
    });
    for (const lease of leases) this.hold(lease, askedAt + timings.leaseMs);
    if (leases.length === limit) return 0;
  }

  async renew(): Promise<void> {
    const { store, timings } = this.options;
    const wanted = this.all.filter(({ isEnding }) => !isEnding);
    if (wanted.length === 0) return;
    const askedAt = performance.now();
    const renewed = await store.renew(
      wanted.map(({ lease }) => lease),
      timings.leaseMs,
    );
    const numbers = new Map(renewed.map((lease) => [keyOf(lease), lease.number]));
    for (const held of wanted) {
      if (numbers.get(keyOf(held.lease)) === held.lease.number) held.endsAt = askedAt + timings.leaseMs;
      else void held.end();
    }
  }

  /** Ends every connection and gives all leases back. */
  async close(): Promise<void> {
    this.isClosing = true;
    await Promise.all(this.all.map((held) => held.end()));
    clearInterval(this.watch);
    if (this.opener !== null) clearTimeout(this.opener);
  }

  private hold(lease: OpenedLease, endsAt: number): void {
    const { store, platforms, log, timings, onChange } = this.options;
    const key = keyOf(lease);
    // Its lease has ended by the database's clock. Two connections at once would disturb each other.
    const before = this.held.get(key)?.end(true) ?? Promise.resolve();
    const held: Held = new Held({
      lease,
      platform: platforms.get(lease.channel)!,
      store,
      log,
      timings,
      endsAt,
      onState: onChange,
      onGone: () => {
        if (this.held.get(key) === held) this.held.delete(key);
        onChange();
      },
    });
    this.held.set(key, held);
    void before.then(() => {
      this.unopened.push(held);
      this.openNext();
    });
  }

  /** Opens one after another, with random pauses: after an outage all would come at once. */
  private openNext(): void {
    if (this.opener !== null || this.unopened.length === 0) return;
    const waitMs = this.options.timings.openEveryMs * (0.5 + Math.random());
    this.opener = setTimeout(() => {
      this.opener = null;
      if (!this.isClosing) this.unopened.shift()?.open();
      this.openNext();
    }, waitMs);
  }

  private endOverdue(): void {
    const at = performance.now() + this.options.timings.marginMs;
    for (const held of this.held.values()) {
      if (held.isEnding || held.endsAt > at) continue;
      this.options.log.warn(
        { channel: held.lease.channel },
        'a lease was not renewed in time, and its connection ends',
      );
      void held.end();
    }
  }
}
