/**
 * A relay as a process: it holds connections for the control plane at the other end of its one channel, and ends with that.
 * Its first message is its configuration. It has no database, no key and no folder: it does everything through calls of the
 * control plane. All data that must not be lost is there, so it may be killed at any moment.
 */
import { Socket } from 'node:net';
import { createRelay } from '@lodge/channels/relay';
import type { Relay } from '@lodge/channels/relay';
import { ChannelFailure } from '@lodge/ports';
import type { ChannelReason } from '@lodge/domain';
import type { Platform } from '@lodge/ports';
import { Channel } from '@lodge/vm/channel';
import { pino } from 'pino';
import { Calls } from './client/calls.ts';
import { remoteFiles } from './client/remote-files.ts';
import { remoteNotices, remoteStore } from './client/remote-store.ts';
import { watchFaults } from './faults.ts';
import { relayFd } from './groups.ts';
import { loadPlatforms } from './platforms.ts';
import type { RelayAsk, RelayOrder, RelayReply, RelayStart } from './protocol.ts';

/** The server waits longer than this, and then kills it. */
const closeWithinMs = 12_000;
const verifyWithinMs = 20_000;

interface Running {
  readonly relay: Relay;
  readonly platforms: readonly Platform[];
}

/** `load`: by default the adapters of the product. */
export function runRelay(load: typeof loadPlatforms = loadPlatforms): void {
  const channel = new Channel(new Socket({ fd: relayFd, readable: true, writable: true }), { peer: 'relayKeeper' });
  const relay = new RelayProcess(channel, load);
  channel.receive('order', ({ order }) => relay.take(order as RelayOrder));
  void channel.ended.then(() => relay.close(0));
  // The terminal sends these to the whole group. The control plane decides when the relay ends.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => relay.close(0));
  channel.open();
}

class RelayProcess {
  private readonly channel: Channel;
  private readonly load: typeof loadPlatforms;
  private readonly asked = new Map<number, AbortController>();
  private running: Promise<Running> | null = null;
  private isClosing = false;

  constructor(channel: Channel, load: typeof loadPlatforms) {
    this.channel = channel;
    this.load = load;
  }

  take(order: RelayOrder): void {
    switch (order.type) {
      case 'start':
        this.running ??= this.start(order);
        this.running.then(
          () => this.say({ type: 'ready' }),
          (error: unknown) => {
            process.stderr.write(`${error instanceof Error ? error.message : 'a relay did not start'}\n`);
            process.exit(1);
          },
        );
        return;
      case 'ping':
        return this.say({ type: 'pong' });
      case 'close':
        return this.close(0);
      case 'cancel':
        return this.asked.get(order.id)?.abort();
      case 'verify':
      case 'pair':
        void this.answer(order);
    }
  }

  /** Ends once. `code` is the exit code of a clean end. */
  close(code: 0 | 1): void {
    if (this.isClosing) return;
    this.isClosing = true;
    setTimeout(() => process.exit(1), closeWithinMs).unref();
    void this.end().then(
      () => process.exit(code),
      () => process.exit(1),
    );
  }

  private async start({ channels, platforms: setUps, name, logLevel, timings }: RelayStart): Promise<Running> {
    const log = pino({ level: logLevel, base: { relay: channels.join() } }, pino.destination({ dest: 2, sync: true }));
    const calls = new Calls(this.channel);
    const notices = remoteNotices(this.channel, calls);
    const store = remoteStore(this.channel, calls);
    const platforms = await this.load(channels, setUps, { notices, log });
    const files = remoteFiles(calls);
    const relay = createRelay({ store, platforms, files, name, log, ...(timings && { timings }) });
    watchFaults(relay, log, () => this.close(1));
    return { relay, platforms };
  }

  private async answer(ask: Exclude<RelayAsk, { readonly type: 'cancel' }>): Promise<void> {
    const cancelling = new AbortController();
    this.asked.set(ask.id, cancelling);
    try {
      const { relay, platforms } = await this.running!;
      if (ask.type === 'verify') {
        const platform = platforms.find(({ channel }) => channel === ask.channel);
        const signal = AbortSignal.any([cancelling.signal, AbortSignal.timeout(verifyWithinMs)]);
        const verified = (await platform?.verify?.(ask.credentials, signal)) ?? null;
        this.say({ type: 'verified', id: ask.id, verified });
      } else {
        const pair = relay.connectionOf(ask.agentId, ask.channel);
        await pair?.pairByNumber?.(ask.phoneNumber);
        this.say({ type: 'paired', id: ask.id, isHere: pair?.pairByNumber !== undefined });
      }
    } catch (error) {
      this.say({ type: 'failed', id: ask.id, reason: reasonOf(error) });
    } finally {
      this.asked.delete(ask.id);
    }
  }

  private say(reply: RelayReply): void {
    this.channel.send({ kind: 'said', reply });
  }

  private async end(): Promise<void> {
    const { relay } = (await this.running) ?? {};
    await relay?.close();
  }
}

/** Other errors may have a token in them. */
const reasonOf = (error: unknown): ChannelReason =>
  error instanceof ChannelFailure
    ? error.reason
    : { code: 'platform_unreachable', message: 'The platform did not answer. Try again in a while.' };
