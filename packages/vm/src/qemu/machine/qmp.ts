/**
 * Client of QEMU's control protocol (QMP) over a unix socket: JSON lines, one greeting, then `qmp_capabilities`, then
 * commands answered by id, with events between them. QEMU serves one client at a time.
 *
 * A guest that broke out of its machine speaks here as its QEMU. Its messages are bounded before they are read: bytes, depth
 * and values of a message, and bytes and unasked messages of a second. An emulator that exceeds a bound has `broken` set,
 * and must be ended.
 */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { atMost, boundedJson, NamedError } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import { throwIfAborted, until } from '../../waiting.ts';

export interface QmpEvent {
  readonly event: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

export interface QmpCommandOptions {
  /** Default 60 s. The connection stays usable after a timeout. */
  readonly timeoutMs?: number;
}

/** QEMU received the command and refused it. */
export class QmpError extends NamedError {
  readonly errorClass: string;
  constructor(command: string, errorClass: string, description: string) {
    super(`${command}: ${description}`);
    this.errorClass = errorClass;
  }
}

/** The emulator breaks its protocol: its guest speaks for it. */
export class BrokenEmulatorError extends VmError {
  constructor(message: string) {
    super('failed', message);
  }
}

interface Pending {
  readonly command: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface QmpMessage {
  readonly QMP?: unknown;
  readonly id?: number;
  readonly return?: unknown;
  readonly error?: { readonly class?: unknown; readonly desc?: unknown };
  readonly event?: string;
  readonly data?: Record<string, unknown>;
}

/** QEMU answers in milliseconds; on a slow host under load it may wait for its turn. Its end ends the wait. */
const defaultTimeoutMs = 60_000;
/** A reply is a few KiB; the largest is the console's last 64 KiB. A larger message is not QMP. */
const messageBounds = { bytes: 4 << 20, depth: 32, elements: 65_536 };
/**
 * Bytes of one second. QEMU limits most events to one a second of their kind. It reports each request that a broken disk of
 * the host refuses, and the largest machine makes 10,000 a second (`disk-rate.ts`).
 */
const maxBytesPerSecond = 16 << 20;
const maxUnaskedPerSecond = 20_000;
const maxDescriptionCharacters = 1024;
const maxPending = 64;

export class Qmp {
  /** Resolves when the connection is gone, from either side. QEMU's end closes it at once. */
  readonly closed: Promise<void>;
  private readonly socket: Socket;
  private readonly pending = new Map<number, Pending>();
  private readonly listeners = new Set<(event: QmpEvent) => void>();
  private readonly greeting = Promise.withResolvers<void>();
  private nextId = 1;
  /** Pieces of a message whose end has not come. */
  private pieces: string[] = [];
  private piecesLength = 0;
  private readonly second = { since: performance.now(), bytes: 0, unasked: 0 };
  private brokenBy: string | null = null;
  private ended = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('utf8');
    socket.on('data', (text) => this.receive(text.toString()));
    socket.on('error', () => undefined);
    const gone = Promise.withResolvers<void>();
    this.closed = gone.promise;
    socket.once('close', () => {
      this.end();
      gone.resolve();
    });
    // Perhaps nobody waits for the greeting when the connection goes.
    this.greeting.promise.catch(() => undefined);
  }

  /** Connects as soon as QEMU listens at `path`. `alive` ends the wait early once it returns false. */
  static async connect(
    path: string,
    wait: { readonly timeoutMs: number; readonly signal?: AbortSignal; readonly alive?: () => boolean },
  ): Promise<Qmp> {
    const started = performance.now();
    const socket = await until(
      () => {
        if (wait.alive?.() === false) throw new VmError('failed', 'QEMU ended before it listened');
        return tryConnect(path);
      },
      { what: `QMP at ${path}`, everyMs: 2, ...wait },
    );
    const qmp = new Qmp(socket);
    const leftMs = Math.max(1, wait.timeoutMs - (performance.now() - started));
    try {
      // If another client holds the monitor, the connection stands and the greeting never comes.
      await withDeadline(qmp.greeting.promise, leftMs, 'QMP greeting');
      await qmp.execute('qmp_capabilities', {}, { timeoutMs: leftMs });
      throwIfAborted(wait.signal);
      return qmp;
    } catch (error) {
      qmp.close();
      throw error;
    }
  }

  /** Runs one command and returns its `return`. Throws `QmpError`, or `VmError` (`timeout`, `failed`). */
  async execute<T>(
    command: string,
    parameters: Readonly<Record<string, unknown>> = {},
    options: QmpCommandOptions = {},
  ): Promise<T> {
    if (this.ended) throw this.goneError(command);
    if (this.pending.size >= maxPending) throw new VmError('failed', `${command}: too many commands under way`);
    const id = this.nextId;
    this.nextId += 1;
    const reply = Promise.withResolvers<unknown>();
    this.pending.set(id, { command, resolve: reply.resolve, reject: reply.reject });
    this.socket.write(`${JSON.stringify({ execute: command, arguments: parameters, id })}\n`);
    try {
      return (await withDeadline(reply.promise, options.timeoutMs ?? defaultTimeoutMs, command)) as T;
    } finally {
      this.pending.delete(id);
    }
  }

  /** Why the other end is no longer the QEMU that was started; null as long as it is. */
  get broken(): string | null {
    return this.brokenBy;
  }

  get isOpen(): boolean {
    return !this.ended;
  }

  onEvent(listener: (event: QmpEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.socket.destroy();
    this.end();
  }

  private break(why: string): void {
    this.brokenBy = `the emulator sent ${why}`;
    this.close();
  }

  private receive(text: string): void {
    const { second } = this;
    const now = performance.now();
    if (now - second.since > 1000) Object.assign(second, { since: now, bytes: 0, unasked: 0 });
    second.bytes += text.length;
    if (second.bytes > maxBytesPerSecond) return this.break(`more than ${maxBytesPerSecond} bytes in a second`);
    const [first = '', ...others] = text.split('\n');
    this.pieces.push(first);
    this.piecesLength += first.length;
    if (this.piecesLength > messageBounds.bytes)
      return this.break(`a message of more than ${messageBounds.bytes} bytes`);
    for (const next of others) {
      const line = this.pieces.join('');
      this.pieces = [next];
      this.piecesLength = next.length;
      if (line.trim() !== '') this.read(line);
      if (this.ended) return;
    }
  }

  private read(line: string): void {
    let message: QmpMessage | null;
    try {
      message = boundedJson(line, messageBounds) as QmpMessage | null;
    } catch (error) {
      return this.break((error as Error).name === 'JsonBoundsError' ? (error as Error).message : 'what is no JSON');
    }
    if (typeof message !== 'object' || message === null) return this.break('a message that is no object');
    if (this.settle(message)) return;
    this.second.unasked += 1;
    if (this.second.unasked > maxUnaskedPerSecond)
      return this.break(`more than ${maxUnaskedPerSecond} messages in a second that nobody asked for`);
    if (message.QMP !== undefined) this.greeting.resolve();
    else if (typeof message.event === 'string')
      for (const listener of this.listeners) listener({ event: message.event, data: message.data ?? {} });
  }

  /** Returns false for a message that answers no command. */
  private settle({ event, id, error, return: value }: QmpMessage): boolean {
    const pending = event === undefined && id !== undefined ? this.pending.get(id) : undefined;
    if (!pending) return false;
    // A command has one answer: a second one belongs to nobody.
    this.pending.delete(id!);
    if (error) pending.reject(new QmpError(pending.command, shortText(error.class), shortText(error.desc)));
    else pending.resolve(value);
    return true;
  }

  private goneError(command: string): VmError {
    if (this.brokenBy !== null) return new BrokenEmulatorError(`${command}: ${this.brokenBy}`);
    return new VmError('failed', `${command}: QEMU is gone`);
  }

  private end(): void {
    if (this.ended) return;
    this.ended = true;
    this.greeting.reject(this.goneError('QMP greeting'));
    for (const { command, reject } of this.pending.values()) reject(this.goneError(command));
  }
}

const shortText = (value: unknown): string =>
  typeof value === 'string' ? value.slice(0, maxDescriptionCharacters) : 'it did not say why';

function tryConnect(path: string): Promise<Socket | null> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(null);
      else reject(error);
    });
  });
}

function withDeadline<T>(work: Promise<T>, timeoutMs: number, what: string): Promise<T> {
  return atMost(timeoutMs, work, () => {
    throw new VmError('timeout', `${what}: no answer in ${timeoutMs} ms`);
  });
}
