import { backoffMs } from '@lodge/domain';
import { LeaseLost } from '@lodge/ports';
import type {
  ChannelSecrets,
  ConnectionHost,
  ConnectionState,
  InboundMessage,
  Log,
  Press,
  Pressed,
  OpenedLease,
  OpenedRelayStore,
  Vault,
} from '@lodge/ports';
import type { Json } from '@lodge/domain';
import { pause } from '../shared/backoff.ts';
import { PressGate } from './press-gate.ts';

const writeAgain = { firstMs: 200, maxMs: 5_000 };

export interface HostOptions {
  readonly lease: OpenedLease;
  readonly store: OpenedRelayStore;
  readonly log: Log;
  /**
   * How a connection's account is identified: by an account key, by its identity, or not at all, because the platform was
   * asked before.
   */
  readonly account: 'key' | 'identity' | 'known';
  /** The lease is lost, or the channel's settings have changed. */
  readonly onEnd: (isLost: boolean) => void;
  readonly onState: (state: ConnectionState) => void;
}

/** A connection's reports and questions, over the store and under one lease. After `end` nothing is written. */
export class Host implements ConnectionHost {
  readonly log: Log;
  readonly vault: Vault;
  private readonly options: HostOptions;
  private readonly ended = new AbortController();
  /** Pending until the account is known to be this channel's; earlier messages might be another channel's. */
  private readonly ours = Promise.withResolvers<void>();
  private readonly gate = new PressGate();
  private state: ConnectionState | null = null;
  private isTelling = false;
  private isClosing = false;

  constructor(options: HostOptions) {
    this.options = options;
    this.log = options.log;
    this.vault = this.makeVault();
    this.ours.promise.catch(() => undefined);
    if (options.account !== 'key' || !options.lease.isUnverified) this.ours.resolve();
  }

  /** From here on it reports nothing of itself, because it is closed on purpose. Received messages are still committed. */
  beginEnd(): void {
    this.isClosing = true;
    this.ours.reject(new LeaseLost());
  }

  end(): void {
    this.ended.abort();
  }

  async received(messages: readonly InboundMessage[], cursor?: Json): Promise<void> {
    await this.ours.promise;
    return this.write((store, lease) => store.receive(lease, messages, cursor));
  }

  async admits(message: Parameters<ConnectionHost['admits']>[0]): Promise<boolean> {
    await this.ours.promise;
    return this.write((store, lease) => store.admits(lease, message));
  }

  async pressed(press: Press): Promise<Pressed> {
    const refused = this.gate.refuses(press.sender.id);
    if (refused !== null) return refused;
    await this.ours.promise;
    return this.write((store, lease) => store.press(lease, press));
  }

  at(cursor: Json): Promise<void> {
    return this.write((store, lease) => store.moveTo(lease, cursor));
  }

  changed(state: ConnectionState): void {
    if (this.isClosing) return;
    this.state = state;
    this.options.onState(state);
    if (!this.isTelling) void this.tell();
  }

  keep(credentials: ChannelSecrets): Promise<void> {
    return this.write((store, lease) => store.keep(lease, credentials));
  }

  /** Resolves when the last state is written, or nothing is written any more. */
  private async tell(): Promise<void> {
    this.isTelling = true;
    for (let failures = 0; this.state !== null && !this.ended.signal.aborted;) {
      const state = this.state;
      try {
        await this.writeState(state);
        if (this.state === state) this.state = null;
        failures = 0;
      } catch (error) {
        this.log.warn({ err: error }, 'a state of a channel was not written yet');
        failures += 1;
        await pause(backoffMs(writeAgain, failures), this.ended.signal);
      }
    }
    this.isTelling = false;
  }

  private async writeState(state: ConnectionState): Promise<void> {
    const { lease, store, onEnd } = this.options;
    const code = state.status === 'pending_pairing' ? state.code : undefined;
    const shownCode = code === undefined ? null : JSON.stringify({ qr: code.qr, pairingCode: code.pairingCode });
    const written = await store.changed(lease, state, shownCode, this.accountOf(state));
    if (written !== true || state.status === 'error') onEnd(false);
    else if (state.status === 'connected') this.ours.resolve();
  }

  private accountOf(state: ConnectionState): string | undefined {
    const { account } = this.options;
    if (account === 'known' || state.status !== 'connected') return undefined;
    return account === 'key' ? state.accountKey : state.identity.id;
  }

  private async write<T>(call: (store: OpenedRelayStore, lease: OpenedLease) => Promise<T>): Promise<T> {
    if (this.ended.signal.aborted) throw new LeaseLost();
    try {
      return await call(this.options.store, this.options.lease);
    } catch (error) {
      if (error instanceof LeaseLost) this.options.onEnd(true);
      throw error;
    }
  }

  private makeVault(): Vault {
    return {
      get: (type, ids) => this.write((store, held) => store.vaultGet(held, type, ids)),
      set: (values, messages) => this.write((store, held) => store.vaultSet(held, values, messages)),
      clear: () => this.write((store, held) => store.vaultClear(held)),
    };
  }
}
