/**
 * Client of QEMU's control protocol (QMP) over a unix socket: JSON lines, one greeting, then `qmp_capabilities`, then
 * commands answered by id, with events between them. QEMU serves one client at a time.
 */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { VmError } from '@lodge/ports';
import { throwIfAborted, until } from '../../waiting.ts';

export interface QmpEvent {
  readonly event: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

export interface QmpCommandOptions {
  /** Default 10 s. The connection stays usable after a timeout. */
  readonly timeoutMs?: number;
}

/** The command reached QEMU and QEMU refused it. */
export class QmpError extends Error {
  readonly errorClass: string;
  constructor(command: string, errorClass: string, description: string) {
    super(`${command}: ${description}`);
    this.name = 'QmpError';
    this.errorClass = errorClass;
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
  readonly error?: { readonly class: string; readonly desc: string };
  readonly event?: string;
  readonly data?: Record<string, unknown>;
}

const defaultTimeoutMs = 10_000;
/** A reply is a few KiB; more than this is not QMP. */
const longestLine = 4 << 20;
const maxPending = 64;

export class Qmp {
  /** Resolves when the connection is gone, from either side. QEMU's end closes it at once. */
  readonly closed: Promise<void>;
  private readonly socket: Socket;
  private readonly pending = new Map<number, Pending>();
  private readonly listeners = new Set<(event: QmpEvent) => void>();
  private readonly greeting = Promise.withResolvers<void>();
  private nextId = 1;
  private buffered = '';
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
    // Nobody may be waiting for it when the connection goes.
    this.greeting.promise.catch(() => undefined);
  }

  /** Connects as soon as QEMU listens at `path`. `alive` ends the wait early once it says no. */
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
      // Another client may hold the monitor: then the connection stands and the greeting never comes.
      await withDeadline(qmp.greeting.promise, leftMs, 'QMP greeting');
      await qmp.execute('qmp_capabilities', {}, { timeoutMs: leftMs });
      throwIfAborted(wait.signal);
      return qmp;
    } catch (error) {
      qmp.close();
      throw error;
    }
  }

  /** Runs one command and gives its `return`. Throws `QmpError`, or `VmError` (`timeout`, `failed`). */
  async execute<T>(
    command: string,
    parameters: Readonly<Record<string, unknown>> = {},
    options: QmpCommandOptions = {},
  ): Promise<T> {
    if (this.ended) throw new VmError('failed', `${command}: QEMU is gone`);
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

  private receive(text: string): void {
    this.buffered += text;
    if (this.buffered.length > longestLine) return this.close();
    const lines = this.buffered.split('\n');
    this.buffered = lines.pop() ?? '';
    for (const line of lines) {
      if (line.trim() === '') continue;
      try {
        this.dispatch(JSON.parse(line) as QmpMessage);
      } catch {
        return this.close();
      }
    }
  }

  private dispatch(message: QmpMessage): void {
    if (message.QMP !== undefined) return this.greeting.resolve();
    if (message.event !== undefined) {
      for (const listener of this.listeners) listener({ event: message.event, data: message.data ?? {} });
      return;
    }
    const pending = message.id === undefined ? undefined : this.pending.get(message.id);
    if (!pending) return;
    if (message.error) pending.reject(new QmpError(pending.command, message.error.class, message.error.desc));
    else pending.resolve(message.return);
  }

  private end(): void {
    if (this.ended) return;
    this.ended = true;
    this.greeting.reject(new VmError('failed', 'QEMU closed the connection'));
    for (const { command, reject } of this.pending.values()) reject(new VmError('failed', `${command}: QEMU is gone`));
  }
}

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

async function withDeadline<T>(work: Promise<T>, timeoutMs: number, what: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new VmError('timeout', `${what}: no answer in ${timeoutMs} ms`)),
    timeoutMs,
  );
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
