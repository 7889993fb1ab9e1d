import { ChannelFailure, LeaseLost } from '@lodge/ports';
import type { ConnectionHost, ConnectionState } from '@lodge/ports';
import type { ChannelName, ChannelReason } from '@lodge/domain';

/** The life of a connection: from its beginning until it is closed, or gives up. Nothing is said after that. */
export class ConnectionLife {
  private readonly channel: ChannelName;
  private readonly host: ConnectionHost;
  private readonly ending = new AbortController();

  constructor(channel: ChannelName, host: ConnectionHost) {
    this.channel = channel;
    this.host = host;
  }

  /** Aborted at its end. */
  get signal(): AbortSignal {
    return this.ending.signal;
  }

  get isOver(): boolean {
    return this.ending.signal.aborted;
  }

  changed(state: ConnectionState): void {
    if (!this.isOver) this.host.changed(state);
  }

  /** Ends with an error that a person must mend. After the lease is lost nothing is said: another relay speaks for the channel. */
  giveUp(error: unknown): void {
    if (this.isOver) return;
    const isKnown = error instanceof ChannelFailure;
    if (!(error instanceof LeaseLost)) {
      if (!isKnown) this.host.log.error({ channel: this.channel }, 'a connection ended by a fault of its own');
      this.changed({ status: 'error', reason: isKnown ? error.reason : brokenReason });
    }
    this.end();
  }

  end(): void {
    this.ending.abort();
  }
}

const brokenReason: ChannelReason = {
  code: 'platform_refused',
  message: 'The connection failed unexpectedly. Restart the channel.',
};
