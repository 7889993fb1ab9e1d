/** One relay process as its control plane sees it: started again when it dies, killed when it hangs, called, and ended. */
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '@lodge/domain';
import { ChannelFailure } from '@lodge/ports';
import type { Log } from '@lodge/ports';
import { Channel, ChannelError } from '@lodge/vm/channel';
import { listenFor, usualHeartbeat } from '@lodge/vm/heartbeat';
import type { Heartbeat } from '@lodge/vm/heartbeat';
import { ShapeError } from '@lodge/domain/shapes';
import { traitsOf } from './faults.ts';
import type { RelayAsk, RelayOrder, RelayReply, RelayStart } from './protocol.ts';
import { readReply } from './serve/said.ts';

/** The process' own bound is shorter. */
const closeWithinMs = 15_000;
const restarts = { firstMs: 500, maxMs: 60_000, jitter: 0.5 };
/** A process that ran so long did not fail in its start. */
const stableMs = 60_000;
const askWithinMs = 25_000;
const maxAsked = 100;

/** A started process, at the other end of a stream. */
export interface Launched {
  readonly stream: Duplex;
  /** Resolves when it is certainly gone, at once if it has ended. */
  kill(): Promise<void>;
}

export interface RelayProcessOptions {
  /** For the log. */
  readonly channels: readonly string[];
  readonly launch: () => Promise<Launched>;
  /** Serves the process' calls until the channel ends. */
  readonly serve: (channel: Channel) => void;
  readonly start: () => RelayStart;
  readonly log: Log;
  readonly heartbeat?: Heartbeat;
}

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;
type Asked = WithoutId<Exclude<RelayAsk, { readonly type: 'cancel' }>>;
type Answer = Exclude<RelayReply, { readonly type: 'ready' | 'pong' }>;

export class RelayProcess {
  private readonly options: RelayProcessOptions;
  private readonly closing = new AbortController();
  private readonly waiting = new Map<number, (reply: Answer) => void>();
  private running: Promise<void> | null = null;
  private opening = opening();
  private channel: Channel | null = null;
  private nextId = 1;

  constructor(options: RelayProcessOptions) {
    this.options = options;
  }

  /** Once. */
  start(): void {
    if (!this.closing.signal.aborted) this.running ??= this.run();
  }

  /** Rejects with a `ChannelFailure`, also if the process does not answer. */
  async ask(question: Asked, signal?: AbortSignal): Promise<Answer> {
    this.start();
    if (this.waiting.size >= maxAsked) throw noAnswer();
    const id = this.nextId++;
    const answered = Promise.withResolvers<Answer>();
    this.waiting.set(id, answered.resolve);
    const over = AbortSignal.any([AbortSignal.timeout(askWithinMs), ...(signal ? [signal] : [])]);
    const giveUp = (): void => answered.reject(noAnswer());
    over.addEventListener('abort', giveUp, { once: true });
    if (over.aborted) giveUp();
    const asked = this.opening.promise.then((channel) => {
      if (over.aborted) return;
      send(channel, { ...question, id });
      over.addEventListener('abort', () => send(channel, { type: 'cancel', id }), { once: true });
      void channel.ended.then(giveUp);
    });
    asked.catch(giveUp);
    try {
      const reply = await answered.promise;
      if (reply.type === 'failed') throw new ChannelFailure(reply.reason);
      return reply;
    } finally {
      this.waiting.delete(id);
      over.removeEventListener('abort', giveUp);
    }
  }

  async close(): Promise<void> {
    this.closing.abort();
    const { channel } = this;
    if (channel !== null) send(channel, { type: 'close' });
    const kill = setTimeout(() => channel?.close(), closeWithinMs);
    await this.running;
    clearTimeout(kill);
  }

  private async run(): Promise<void> {
    const { signal } = this.closing;
    const { log, channels } = this.options;
    for (let failures = 1; !signal.aborted; failures += 1) {
      const startedAt = performance.now();
      const how = await this.runOnce();
      if (signal.aborted) return;
      if (performance.now() - startedAt > stableMs) failures = 1;
      const waitMs = backoffMs(restarts, failures, Math.random);
      log.error({ channels, ...how, restart_ms: waitMs }, 'a relay process ended, and is started again');
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Returns how it ended. Never rejects: a failed start is tried again, too. */
  private async runOnce(): Promise<object> {
    let child: Launched | null = null;
    let unwatch: (() => void) | null = null;
    try {
      child = await this.options.launch();
      const channel = new Channel(child.stream, { peer: 'relay' });
      unwatch = this.watch(channel);
      this.options.serve(channel);
      channel.open();
      send(channel, this.options.start());
      if (this.closing.signal.aborted) send(channel, { type: 'close' });
      this.channel = channel;
      this.opening.resolve(channel);
      const why = await channel.ended;
      return why === null ? {} : { why: why.message };
    } catch (error) {
      this.opening.reject(noAnswer());
      return traitsOf(error);
    } finally {
      unwatch?.();
      this.channel = null;
      this.opening = opening();
      child?.stream.destroy();
      // A process that has closed its channel belongs to nobody any more.
      await child?.kill().catch(() => undefined);
    }
  }

  /** Passes its replies on, and ends it when it has said nothing for too long. */
  private watch(channel: Channel): () => void {
    const { log, channels, heartbeat = usualHeartbeat } = this.options;
    const listening = listenFor(heartbeat, {
      ping: () => send(channel, { type: 'ping' }),
      silent: () => {
        log.error({ channels }, 'a relay process answers nothing, and is killed');
        channel.close();
      },
    });
    channel.receive('said', ({ reply: said }) => {
      listening.heard();
      const reply = checked(said);
      if (reply.type !== 'ready' && reply.type !== 'pong') this.waiting.get(reply.id)?.(reply);
    });
    return () => listening.stop();
  }
}

function opening() {
  const own = Promise.withResolvers<Channel>();
  own.promise.catch(() => undefined);
  return own;
}

function send(channel: Channel, order: RelayOrder): void {
  channel.send({ kind: 'order', order });
}

/** A message that is no answer ends the channel. */
function checked(said: unknown): RelayReply {
  try {
    return readReply(said);
  } catch (error) {
    if (error instanceof ShapeError) throw new ChannelError(error.message);
    throw error;
  }
}

const noAnswer = (): ChannelFailure =>
  new ChannelFailure({
    code: 'platform_unreachable',
    message: 'The process that speaks to the platform did not answer in time. Try again in a while.',
  });
