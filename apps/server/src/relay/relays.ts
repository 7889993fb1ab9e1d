/**
 * The relay processes of a server: starts them once there is a channel for them, starts again the one that died, ends them
 * with the server.
 *
 * One process has the platforms whose connections are cheap to open. WhatsApp has its own: a handshake keeps its processor busy
 * for tens of milliseconds, and a hundred of them shall not hold up the heartbeats of others.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RelayTimings } from '@lodge/channels/relay';
import type { ChannelName } from '@lodge/domain';
import { ChannelFailure } from '@lodge/ports';
import type { ChannelCheck, Log, RelayStore } from '@lodge/ports';
import { traitsOf } from './faults.ts';
import type { GoogleClient, PlatformUrls, RelayAsk, RelayReply, RelayStart } from './protocol.ts';

export const relayGroups: readonly (readonly ChannelName[])[] = [
  ['slack', 'discord', 'telegram', 'gmail'],
  ['whatsapp'],
];

/** Its own bound is shorter. */
const closeWithinMs = 15_000;
const firstRestartMs = 500;
const lastRestartMs = 60_000;
/** One that ran so long did not die of its start. */
const stableMs = 60_000;
const askWithinMs = 25_000;
const maxAsked = 100;
/** One that answers nothing for so long hangs. Its event loop is never busy for a second otherwise. */
const usualWatch: Watch = { pingEveryMs: 10_000, silentMs: 60_000 };
/** What a process needs of the environment, which may hold what it must not have. */
const passedOn = ['PATH', 'TZ', 'LANG', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'];

export interface RelaysOptions {
  readonly store: Pick<RelayStore, 'wanted' | 'onWork'>;
  readonly connectionString: string;
  readonly masterKey: Uint8Array;
  readonly urls: PlatformUrls;
  readonly google: GoogleClient | null;
  readonly filesDir: string;
  readonly instance: string;
  readonly logLevel: string;
  readonly log: Log;
  readonly timings?: RelayTimings;
  readonly watch?: Watch;
}

export interface Watch {
  readonly pingEveryMs: number;
  readonly silentMs: number;
}

export interface Relays {
  readonly check: ChannelCheck;
  /** Of the processes that run now. */
  readonly pids: readonly number[];
  close(): Promise<void>;
}

export function startRelays(options: RelaysOptions): Relays {
  const processes = relayGroups.map((channels) => new RelayProcess(channels, options));
  const of = (channel: ChannelName): RelayProcess => processes.find(({ channels }) => channels.includes(channel))!;
  const look = (): void => {
    options.store.wanted().then(
      (channels) => {
        for (const channel of channels) of(channel).start();
      },
      (error: unknown) => options.log.warn({ err: error }, 'whether there are channels was not found out'),
    );
  };
  const forget = options.store.onWork(({ of: what }) => what === 'channel' && look());
  look();
  return {
    check: {
      async verify(channel, credentials, signal) {
        const reply = await of(channel).ask({ type: 'verify', channel, credentials }, signal);
        return reply.type === 'verified' ? reply.verified : null;
      },
      async pairByNumber(agentId, channel, phoneNumber) {
        const reply = await of(channel).ask({ type: 'pair', agentId, channel, phoneNumber });
        return reply.type === 'paired' && reply.isHere;
      },
    },
    get pids() {
      return processes.flatMap(({ pid }) => pid ?? []);
    },
    close: async () => {
      forget();
      await Promise.all(processes.map((each) => each.close()));
    },
  };
}

type Asked = Omit<Extract<RelayAsk, { type: 'verify' }>, 'id'> | Omit<Extract<RelayAsk, { type: 'pair' }>, 'id'>;
type Answer = Exclude<RelayReply, { readonly type: 'ready' | 'pong' }>;

class RelayProcess {
  readonly channels: readonly ChannelName[];
  private readonly options: RelaysOptions;
  private readonly closing = new AbortController();
  private readonly waiting = new Map<number, (reply: Answer) => void>();
  private running: Promise<void> | null = null;
  private child: ChildProcess | null = null;
  private nextId = 1;

  constructor(channels: readonly ChannelName[], options: RelaysOptions) {
    this.channels = channels;
    this.options = options;
  }

  /** Once. */
  start(): void {
    if (!this.closing.signal.aborted) this.running ??= this.run();
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Rejects with a `ChannelFailure`, also where the process does not answer. */
  async ask(question: Asked, signal?: AbortSignal): Promise<Answer> {
    this.start();
    const { child } = this;
    if (!child?.connected || this.waiting.size >= maxAsked) throw noAnswer();
    const id = this.nextId++;
    const over = AbortSignal.any([AbortSignal.timeout(askWithinMs), ...(signal ? [signal] : [])]);
    const answered = Promise.withResolvers<Answer>();
    const giveUp = (): void => {
      if (child.connected) child.send({ type: 'cancel', id }, () => undefined);
      answered.reject(noAnswer());
    };
    this.waiting.set(id, answered.resolve);
    over.addEventListener('abort', giveUp, { once: true });
    child.once('exit', giveUp);
    try {
      if (over.aborted) throw noAnswer();
      child.send({ ...question, id }, (error) => error && answered.reject(noAnswer()));
      const reply = await answered.promise;
      if (reply.type === 'failed') throw new ChannelFailure(reply.reason);
      return reply;
    } finally {
      this.waiting.delete(id);
      over.removeEventListener('abort', giveUp);
      child.off('exit', giveUp);
    }
  }

  async close(): Promise<void> {
    this.closing.abort();
    const { child } = this;
    if (child?.connected) child.send({ type: 'close' }, () => undefined);
    const kill = setTimeout(() => child?.kill('SIGKILL'), closeWithinMs);
    await this.running;
    clearTimeout(kill);
  }

  private async run(): Promise<void> {
    const { signal } = this.closing;
    const { log } = this.options;
    for (let waitMs = firstRestartMs; !signal.aborted;) {
      const startedAt = performance.now();
      const how = await this.runOnce();
      if (signal.aborted) return;
      if (performance.now() - startedAt > stableMs) waitMs = firstRestartMs;
      const fields = { channels: this.channels, ...how, restart_ms: waitMs };
      log.error(fields, 'a relay process ended, and is started again');
      await sleep(waitMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
      waitMs = Math.min(2 * waitMs, lastRestartMs);
    }
  }

  /** Gives how it ended. Never rejects: what cannot be started is tried again, too. */
  private async runOnce(): Promise<object> {
    let unwatch: (() => void) | null = null;
    try {
      const child = this.fork();
      this.child = child;
      unwatch = this.watch(child);
      const ended = endOf(child);
      child.send(this.startOf(), () => undefined);
      if (this.closing.signal.aborted) child.send({ type: 'close' }, () => undefined);
      return await ended;
    } catch (error) {
      return traitsOf(error);
    } finally {
      unwatch?.();
      // One that did not end, such as one that got no configuration, is nobody's any more.
      this.child?.kill('SIGKILL');
      this.child = null;
    }
  }

  private fork(): ChildProcess {
    const env = Object.fromEntries(passedOn.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
    return fork(new URL('./main.ts', import.meta.url), [], {
      env,
      // A connection over TLS brings much that lives for a moment: V8 else keeps twice the memory (benchmarks/results, Telegram).
      execArgv: ['--max-semi-space-size=4'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
  }

  /** Hands its replies out, and kills it when it has said nothing for too long. By pings: a pause of this process counts once. */
  private watch(child: ChildProcess): () => void {
    const { log, watch = usualWatch } = this.options;
    let unanswered = 0;
    child.on('message', (reply: RelayReply) => {
      unanswered = 0;
      if (reply.type !== 'ready' && reply.type !== 'pong') this.waiting.get(reply.id)?.(reply);
    });
    const timer = setInterval(() => {
      if (unanswered * watch.pingEveryMs >= watch.silentMs) {
        log.error({ channels: this.channels, pid: child.pid }, 'a relay process answers nothing, and is killed');
        child.kill('SIGKILL');
        return;
      }
      unanswered += 1;
      if (child.connected) child.send({ type: 'ping' }, () => undefined);
    }, watch.pingEveryMs);
    return () => clearInterval(timer);
  }

  private startOf(): RelayStart {
    const { connectionString, masterKey, urls, google, filesDir, instance, logLevel, timings } = this.options;
    return {
      type: 'start',
      connectionString,
      masterKey: Buffer.from(masterKey).toString('base64'),
      name: `${instance}@${hostname()}`,
      channels: this.channels,
      urls,
      google,
      filesDir,
      logLevel,
      ...(timings && { timings }),
    };
  }
}

function endOf(child: ChildProcess): Promise<object> {
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ err: error }));
    child.on('exit', (code, signal) => resolve({ code, signal }));
  });
}

const noAnswer = (): ChannelFailure =>
  new ChannelFailure({
    code: 'platform_unreachable',
    message: 'The process that speaks to the platform did not answer in time. Try again in a while.',
  });
