/**
 * Files from and to a relay process, in pieces: it sees no folder of the host. It reads only files that it was given to
 * send, by the key in their part.
 */
import { randomUUID } from 'node:crypto';
import { Shares } from '@lodge/domain';
import { NoRoomError } from '@lodge/ports';
import type { FileOwner, RelayFiles } from '@lodge/ports';

/** Bound on each kind of running transfer. A relay fetches eight and sends some fifty at once. */
const maxAtOnce = 128;
/** Running transfers of incoming files. A relay fetches two of an agent at once; here is where it is counted. */
const placesToWrite = { perAgent: 2, perAccount: 32, inAll: maxAtOnce, few: 2 };
/** Time until an abandoned transfer is given up. */
const idleMs = 120_000;
/**
 * Keys that one process knows: of parts that it was given to send, and of its own incoming files. It has some hundred at
 * once.
 */
const maxKeys = 10_000;

interface Reading {
  readonly pieces: AsyncIterator<Uint8Array>;
  readonly idle: NodeJS.Timeout;
}

interface Writing {
  readonly owner: FileOwner;
  readonly pieces: Pieces;
  readonly giveUp: AbortController;
  readonly written: Promise<{ readonly key: string; readonly bytes: number }>;
  readonly idle: NodeJS.Timeout;
}

export class Transfers {
  private readonly files: RelayFiles;
  private readonly readable = new Set<string>();
  private readonly brought = new Set<string>();
  private readonly readings = new Map<string, Reading>();
  private readonly writings = new Map<string, Writing>();
  private readonly places = new Shares(placesToWrite);

  constructor(files: RelayFiles) {
    this.files = files;
  }

  allow(key: string): void {
    keepNewest(this.readable, key);
  }

  /** Throws for a file that this process has not brought: the message would get another agent's. */
  assertBrought(key: string): void {
    if (!this.brought.has(key)) throw new RangeError('this file was not brought');
  }

  async remove(key: string): Promise<void> {
    this.assertBrought(key);
    await this.files.remove(key);
  }

  /** The file's part is sent. If the file stays for now, it is removed later, when nobody needs it. */
  async over(key: string): Promise<void> {
    this.readable.delete(key);
    await this.files.remove(key).catch(() => undefined);
  }

  openRead(key: string): string {
    if (!this.readable.has(key)) throw new RangeError('this file is not to be sent');
    if (this.readings.size >= maxAtOnce) throw new RangeError('too many files are under way');
    const id = randomUUID();
    const pieces = this.files.read(key)[Symbol.asyncIterator]();
    this.readings.set(id, { pieces, idle: setTimeout(() => void this.closeRead(id), idleMs).unref() });
    return id;
  }

  /** Null at the end. */
  async read(id: string): Promise<string | null> {
    const reading = this.readings.get(id);
    if (reading === undefined) throw new RangeError('nothing is read by that number');
    reading.idle.refresh();
    const { done, value } = await reading.pieces.next();
    if (done === true) await this.closeRead(id);
    return done === true ? null : Buffer.from(value).toString('base64');
  }

  async closeRead(id: string): Promise<void> {
    const reading = this.readings.get(id);
    this.readings.delete(id);
    clearTimeout(reading?.idle);
    await reading?.pieces.return?.();
  }

  /** Throws a `NoRoomError` if the agent, or its account, has too many running ones. */
  openWrite(owner: FileOwner, maxBytes: number): string {
    if (!this.places.take(owner, 1)) throw new NoRoomError();
    const id = randomUUID();
    const giveUp = new AbortController();
    const pieces = new Pieces();
    const written = this.files.write(owner, pieces.all(giveUp.signal), maxBytes, giveUp.signal);
    written.catch(() => pieces.end());
    this.writings.set(id, {
      owner,
      pieces,
      giveUp,
      written,
      idle: setTimeout(() => void this.dropWrite(id), idleMs).unref(),
    });
    return id;
  }

  /** Resolves when the piece was accepted, and rejects with why the file is not kept. */
  async write(id: string, base64: string): Promise<void> {
    const { pieces, written, idle } = this.writing(id);
    idle.refresh();
    await Promise.race([pieces.put(Buffer.from(base64, 'base64')), written]);
  }

  async endWrite(id: string): Promise<{ readonly key: string; readonly bytes: number }> {
    const { pieces, written, idle } = this.writing(id);
    clearTimeout(idle);
    pieces.end();
    try {
      const file = await written;
      keepNewest(this.brought, file.key);
      return file;
    } finally {
      await this.dropWrite(id);
    }
  }

  /** Resolves when nothing of it is running: its place is free from then on. */
  async dropWrite(id: string): Promise<void> {
    const writing = this.writings.get(id);
    if (writing === undefined) return;
    const { owner, pieces, giveUp, written, idle } = writing;
    this.writings.delete(id);
    clearTimeout(idle);
    giveUp.abort();
    pieces.end();
    await written.catch(() => undefined);
    this.places.giveBack(owner, 1);
  }

  /** The process that had them is gone. */
  close(): void {
    for (const id of this.writings.keys()) void this.dropWrite(id);
    for (const id of this.readings.keys()) void this.closeRead(id).catch(() => undefined);
  }

  private writing(id: string): Writing {
    const writing = this.writings.get(id);
    if (writing === undefined) throw new RangeError('nothing is written by that number');
    return writing;
  }
}

function keepNewest(keys: Set<string>, key: string): void {
  keys.delete(key);
  keys.add(key);
  if (keys.size > maxKeys) keys.delete(keys.values().next().value!);
}

/** Passes one piece at a time from the sender to the receiver. */
class Pieces {
  private readonly waiting: { readonly piece: Uint8Array; readonly taken: () => void }[] = [];
  private isEnded = false;
  private wake: () => void = () => undefined;

  /** Resolves when the piece was received, or when nobody receives any more. */
  put(piece: Uint8Array): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.isEnded) resolve();
    else this.waiting.push({ piece, taken: resolve });
    this.wake();
    return promise;
  }

  end(): void {
    this.isEnded = true;
    this.wake();
  }

  /** Ends with an error if the transfer was given up. */
  async *all(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    for (;;) {
      const next = this.waiting.shift();
      signal.throwIfAborted();
      if (next !== undefined) {
        yield next.piece;
        next.taken();
      } else if (this.isEnded) {
        return;
      } else {
        await new Promise<void>((resolve) => (this.wake = resolve));
      }
    }
  }
}
