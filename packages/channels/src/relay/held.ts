/**
 * A channel that this relay holds: its lease, its connection, and the end of both.
 *
 *     opening -> open -> ending -> gone
 *
 * The end by this process' clock is never after the database's: it counts from before the request for the lease. A
 * connection is closed a margin before it, whatever the database says meanwhile. The lease is given back once the connection
 * is closed.
 */
import type { ChannelConnection, ConnectionState, Log, OpenedLease, OpenedRelayStore, Platform } from '@lodge/ports';
import { pause } from '../shared/backoff.ts';
import { asDoingsOf } from './context.ts';
import { Host } from './host.ts';
import type { RelayTimings } from './timings.ts';

export interface HeldOptions {
  readonly lease: OpenedLease;
  readonly platform: Platform;
  readonly store: OpenedRelayStore;
  readonly log: Log;
  readonly timings: RelayTimings;
  /** A time of `performance.now()`. */
  readonly endsAt: number;
  readonly onState: () => void;
  readonly onGone: () => void;
}

export class Held {
  readonly lease: OpenedLease;
  readonly platform: Platform;
  connection: ChannelConnection | null = null;
  state: ConnectionState = { status: 'connecting' };
  endsAt: number;
  private readonly options: HeldOptions;
  private readonly host: Host;
  private readonly stopping = new AbortController();
  private ending: Promise<void> | null = null;
  private failing: Promise<void> | null = null;

  constructor(options: HeldOptions) {
    const { lease, platform, store, log } = options;
    this.options = options;
    this.lease = lease;
    this.platform = platform;
    this.endsAt = options.endsAt;
    this.host = new Host({
      lease,
      store,
      log: withFields(log, { agent_id: lease.agentId, channel: lease.channel }),
      account: platform.tellsAccount === true ? 'key' : platform.verify === null ? 'identity' : 'known',
      onEnd: (isLost) => void this.end(isLost),
      onState: (state) => {
        this.state = state;
        options.onState();
      },
    });
  }

  /** Aborts running sends and fetches when the channel must be given up. */
  get signal(): AbortSignal {
    return this.stopping.signal;
  }

  get isEnding(): boolean {
    return this.ending !== null;
  }

  open(): void {
    if (this.isEnding) return;
    const { lease, platform } = this;
    const { credentials } = lease;
    if (credentials === null) {
      this.host.log.error({}, 'the stored credentials of a channel do not open');
      this.fail('invalid_credentials', 'The stored credentials cannot be read. Give them again.');
      return;
    }
    const wantsUnaddressed = !lease.access.groups.requireMention;
    try {
      const account = { agentId: lease.agentId, credentials, wantsUnaddressed, cursor: lease.cursor };
      this.connection = asDoingsOf(this, () => platform.connect(account, this.host));
    } catch {
      // The error itself may have a token in it.
      this.host.log.error({}, 'a connection could not be opened');
      this.fail('platform_refused', 'The connection could not be opened. Restart the channel to try again.');
    }
  }

  /** Ends once. Resolves when the connection is closed and the lease given back, or neither is possible any more. */
  end(isLost = false): Promise<void> {
    if (isLost) this.host.end();
    this.ending ??= this.close();
    return this.ending;
  }

  /** Handles its own uncaught error, once: it is closed, and opened again after a while. Resolves when that is written. */
  fault(): Promise<void> {
    this.failing ??= this.fallOut();
    return this.failing;
  }

  private async fallOut(): Promise<void> {
    // The note comes before its end, so that the channel's next holder finds the wait.
    this.host.beginEnd();
    try {
      await this.options.store.faulted(this.lease);
    } catch (error) {
      this.host.log.warn({ err: error }, 'the fault of a connection was not written');
    }
    void this.end();
  }

  private fail(code: 'invalid_credentials' | 'platform_refused', message: string): void {
    this.host.changed({ status: 'error', reason: { code, message } });
  }

  private async close(): Promise<void> {
    const { store, timings, log } = this.options;
    this.stopping.abort();
    this.host.beginEnd();
    const closing = new AbortController();
    const closed = Promise.resolve()
      .then(() => this.connection?.close())
      .catch(() => log.warn({ channel: this.lease.channel }, 'a connection did not close cleanly'));
    await Promise.race([closed, pause(timings.closeMs, closing.signal)]);
    closing.abort();
    this.host.end();
    // If this fails the lease ends by itself.
    await store.release(this.lease).catch(() => undefined);
    this.options.onGone();
  }
}

const withFields = (log: Log, fields: object): Log => ({
  debug: (more, message) => log.debug({ ...fields, ...more }, message),
  info: (more, message) => log.info({ ...fields, ...more }, message),
  warn: (more, message) => log.warn({ ...fields, ...more }, message),
  error: (more, message) => log.error({ ...fields, ...more }, message),
});
