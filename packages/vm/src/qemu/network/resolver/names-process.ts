/**
 * Root's side of the process that looks names up (`names-program.ts`). That process reads guests' and name servers' packets,
 * so its messages count as hostile: root accepts only addresses, marks and lifetimes, each checked, and a bounded number a
 * second.
 *
 *   started -> serving -> ended by itself, answers no ping, or what it says is no message -> started again
 *                      -> stopped
 *
 * It ends with this process, in every case. While there is none, no name is found and nothing opens.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { isIPv4 } from 'node:net';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Places, TokenBucket } from '@lodge/domain';
import { Channel, ChannelError } from '../../../remote/channel.ts';
import type { Message } from '../../../remote/channel.ts';
import { listenFor, usualHeartbeat } from '../../../remote/heartbeat.ts';
import type { Heartbeat, Listening } from '../../../remote/heartbeat.ts';
import type { AllowedName } from '../egress-rules.ts';
import { mostLookupsOfGuest } from './lookups.ts';
import { mostAnswers } from './message.ts';
import { namesFd } from './names-protocol.ts';
import type { Serve, WantedPin } from './names-protocol.ts';

/** The command that runs a file as a user without privileges who may read it. */
export type Unprivileged = (file: string) => Promise<readonly string[]>;

export interface NamesProcessOptions {
  readonly serve: Serve;
  /** Most guests at one time, which bounds the process' messages. */
  readonly guests: number;
  readonly unprivileged?: Unprivileged | undefined;
  /** Makes the addresses reachable for the guest until then (ms since 1970). Rejects if its rules do not allow it. */
  readonly pin: (
    guest: string,
    pin: { readonly addresses: readonly string[]; readonly mark: number; readonly until: number },
  ) => Promise<void>;
  /** A guest asked for a name that it may not look up. */
  readonly refuse: (guest: string, name: string) => void;
  readonly isClosed: (address: string) => boolean;
  readonly log: (message: string) => void;
  readonly heartbeat?: Heartbeat;
}

const program = fileURLToPath(new URL('names-program.ts', import.meta.url));
/** A slow and busy host takes seconds to start Node. */
const startTimeoutMs = 60_000;
const restartPauseMs = 500;
/** As many as the guests' packets allow (`egress-rules.ts`). */
const messagesOfGuest = { perSecond: 25, burst: 125 };
const longestWhy = 1000;
const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };
/** A user id behind the ids of VMs and `templateGid`: no other process of the host has it. */
const usualUid = 2_000_100_001;

/** No program that it executes gets more privileges, and it ends with the process that started it. */
export function asUser(uid: number): string[] {
  const none = ['--no-new-privs', '--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all'];
  return ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', ...none, '--pdeathsig=KILL', '--'];
}

const usually: Unprivileged = async (file) => [...asUser(usualUid), process.execPath, file];

interface Running {
  readonly child: ChildProcess;
  readonly channel: Channel;
}

export class NamesProcess {
  private readonly options: NamesProcessOptions;
  private readonly guests = new Map<string, readonly AllowedName[] | null>();
  private running: Running | null = null;
  private starting: Promise<void> | null = null;
  private isWanted = false;

  constructor(options: NamesProcessOptions) {
    this.options = options;
  }

  /** Resolves once names are looked up, also if they are already. */
  async start(): Promise<void> {
    this.isWanted = true;
    if (this.running !== null) return;
    this.starting ??= this.begin().finally(() => {
      this.starting = null;
    });
    await this.starting;
  }

  stop(): void {
    this.isWanted = false;
    this.end();
  }

  /** Sets the names that a guest may look up, by its source address; null: unknown. */
  allow(guest: string, names: readonly AllowedName[] | null): void {
    if (this.guests.has(guest) && this.guests.get(guest) === names) return;
    this.guests.set(guest, names);
    this.running?.channel.send({ kind: 'guest', guest, names });
  }

  forget(guest: string): void {
    if (this.guests.delete(guest)) this.running?.channel.send({ kind: 'forget', guest });
  }

  /** Its process id while there is one. */
  get pid(): number | null {
    return this.running?.child.pid ?? null;
  }

  private async begin(): Promise<void> {
    const { serve, unprivileged = usually } = this.options;
    const [command, ...args] = (await unprivileged(program)) as [string, ...string[]];
    const stdio = ['ignore', 'ignore', 'pipe', 'pipe'] as const;
    // A new session has no terminal of root's.
    const child = spawn(command, args, { cwd: '/', env, stdio: [...stdio], detached: true });
    const lastWords = keepEnd(child);
    const channel = new Channel(child.stdio[namesFd] as Duplex, { peer: 'names' });
    const ready = Promise.withResolvers<void>();
    const late = setTimeout(() => ready.reject(new Error('it took too long to start')), startTimeoutMs);
    this.listen(channel, ready);
    child.once('error', (error) => ready.reject(error));
    void channel.ended.then((why) => {
      ready.reject(new Error(why?.message ?? `it ended: ${lastWords()}`));
      child.kill('SIGKILL');
    });
    channel.open();
    channel.send({ kind: 'serve', ...serve });
    try {
      await ready.promise;
    } catch (error) {
      child.kill('SIGKILL');
      channel.close();
      const why = (error as Error).message;
      throw new Error(`The process that looks up guests' names does not start: ${why}`, { cause: error });
    } finally {
      clearTimeout(late);
    }
    this.take({ child, channel });
  }

  private take(running: Running): void {
    const { child, channel } = running;
    this.running = running;
    // The child must not keep this process alive.
    child.unref();
    for (const stream of child.stdio) (stream as { unref?: () => void } | null)?.unref?.();
    for (const [guest, names] of this.guests) channel.send({ kind: 'guest', guest, names });
    const silence = this.awaitPongs(channel);
    void channel.ended.then((why) => {
      silence.stop();
      if (this.running !== running) return;
      this.running = null;
      if (!this.isWanted) return;
      this.options.log(
        `network: the process that looks names up ended (${why?.message ?? 'by itself'}); it is started again`,
      );
      this.beginLater();
    });
    if (!this.isWanted) this.end();
  }

  /** Ends a process that hangs. */
  private awaitPongs(channel: Channel): Pick<Listening, 'stop'> {
    let asked = 0;
    const listening = listenFor(this.options.heartbeat ?? usualHeartbeat, {
      ping: () => {
        asked += 1;
        channel.send({ kind: 'ping' });
      },
      silent: () => {
        this.options.log('network: the process that looks names up answers nothing, and is killed');
        channel.close();
      },
    });
    channel.receive('pong', () => {
      asked -= 1;
      if (asked < 0) throw new ChannelError('an answer to no ping');
      listening.heard();
    });
    return listening;
  }

  private beginLater(): void {
    const timer = setTimeout(() => {
      if (!this.isWanted) return;
      this.start().catch((error: unknown) => {
        this.options.log(`network: ${(error as Error).message}`);
        this.beginLater();
      });
    }, restartPauseMs);
    timer.unref();
  }

  private end(): void {
    const { running } = this;
    this.running = null;
    running?.child.kill('SIGKILL');
    running?.channel.close();
  }

  private listen(channel: Channel, ready: PromiseWithResolvers<void>): void {
    const { guests } = this.options;
    const { perSecond, burst } = messagesOfGuest;
    const budget = new TokenBucket({ perSecond: perSecond * guests, burst: burst * guests });
    /** Running pins by guest: pins that many guests wait for at once must not end their common process. */
    const underWay = new Places({ perName: mostLookupsOfGuest });
    const within = (receive: (message: Message) => void) => (message: Message) => {
      if (!budget.allows(1, performance.now())) throw new ChannelError('it said more than all guests may ask');
      receive(message);
    };
    channel.receive('serving', () => ready.resolve());
    channel.receive('failed', ({ why }) => ready.reject(new Error(plainText(why))));
    channel.receive(
      'refuse',
      within(({ guest, name }) => {
        if (typeof guest !== 'string' || typeof name !== 'string') throw new ChannelError('a refusal of another shape');
        if (this.guests.has(guest)) this.options.refuse(guest, name);
      }),
    );
    channel.receive(
      'pin',
      within((message) => {
        const wanted = wantedPin(message);
        const { guest } = wanted;
        if (!underWay.take(guest)) throw new ChannelError('too many pins of a guest at once');
        const { id } = message;
        const answer = (is: boolean): void => {
          underWay.giveBack(guest);
          channel.send({ kind: 'pinned', id, is });
        };
        this.pin(wanted).then(
          () => answer(true),
          () => answer(false),
        );
      }),
    );
  }

  /** Rejects addresses that the guest may not reach. */
  private async pin({ guest, addresses, mark, seconds }: WantedPin): Promise<void> {
    const { leastSeconds, mostSeconds } = this.options.serve.pinBounds;
    if (!this.guests.has(guest) || addresses.some((address) => this.options.isClosed(address)))
      throw new Error('an address that the guest must not reach');
    const until = Date.now() + Math.min(mostSeconds, Math.max(leastSeconds, seconds)) * 1000;
    await this.options.pin(guest, { addresses, mark, until });
  }
}

/** Throws `ChannelError` for a message of another shape. */
function wantedPin({ guest, addresses, mark, seconds }: Message): WantedPin {
  if (typeof guest === 'string' && isWhole(mark) && isWhole(seconds) && isAddresses(addresses))
    return { guest, addresses, mark, seconds };
  throw new ChannelError('a pin of another shape');
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);

const isAddresses = (value: unknown): value is readonly string[] =>
  Array.isArray(value) &&
  value.length <= mostAnswers &&
  value.every((each) => typeof each === 'string' && isIPv4(each));

/** Plain text for a terminal and a log. */
const plainText = (value: unknown): string =>
  String(value)
    .slice(0, longestWhy)
    .replaceAll(/[^ -~]/g, '?');

/** The last output of the process, as one line. */
function keepEnd({ stderr }: ChildProcess): () => string {
  let text = '';
  stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-longestWhy);
  });
  return () => plainText(text.trim().replaceAll(/\s+/g, ' '));
}
