/**
 * Files that a relay process brings and takes, in pieces: it sees no folder of the host. It reads what it was given to send
 * alone, by the key that its part named.
 */
import { randomUUID } from 'node:crypto';
import type { FileOwner, RelayFiles } from '@lodge/ports';

/** Of each kind, under way at a time. A relay fetches eight and sends some fifty at once. */
const maxAtOnce = 128;
/** What nobody goes on with is given up. */
const idleMs = 120_000;
/** Keys that one process knows: of parts that it was given to send, and of files that it brought. It has some hundred at once. */
const maxKeys = 10_000;

interface Reading {
  readonly pieces: AsyncIterator<Uint8Array>;
  readonly idle: NodeJS.Timeout;
}

interface Writing {
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

  openRead(key: string): string {
    if (!this.readable.has(key)) throw new RangeError('this file is not to be sent');
    const id = this.place(this.readings);
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

  openWrite(owner: FileOwner, maxBytes: number): string {
    const id = this.place(this.writings);
    const giveUp = new AbortController();
    const pieces = new Pieces();
    const written = this.files.write(owner, pieces.all(giveUp.signal), maxBytes, giveUp.signal);
    written.catch(() => pieces.end());
    this.writings.set(id, {
      pieces,
      giveUp,
      written,
      idle: setTimeout(() => this.dropWrite(id), idleMs).unref(),
    });
    return id;
  }

  /** Resolves when the piece was taken, and rejects with why the file is not kept. */
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
      this.writings.delete(id);
    }
  }

  dropWrite(id: string): void {
    const writing = this.writings.get(id);
    this.writings.delete(id);
    clearTimeout(writing?.idle);
    writing?.giveUp.abort();
    writing?.pieces.end();
  }

  /** Whoever had them is gone. */
  close(): void {
    for (const id of this.writings.keys()) this.dropWrite(id);
    for (const id of this.readings.keys()) void this.closeRead(id).catch(() => undefined);
  }

  private writing(id: string): Writing {
    const writing = this.writings.get(id);
    if (writing === undefined) throw new RangeError('nothing is written by that number');
    return writing;
  }

  private place(of: ReadonlyMap<string, unknown>): string {
    if (of.size >= maxAtOnce) throw new RangeError('too many files are under way');
    return randomUUID();
  }
}

function keepNewest(keys: Set<string>, key: string): void {
  keys.delete(key);
  keys.add(key);
  if (keys.size > maxKeys) keys.delete(keys.values().next().value!);
}

/** One piece at a time, from who gives to who takes. */
class Pieces {
  private readonly waiting: { readonly piece: Uint8Array; readonly taken: () => void }[] = [];
  private isEnded = false;
  private wake: () => void = () => undefined;

  /** Resolves when it was taken, or when nobody takes any more. */
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

  /** Ends with an error where it was given up. */
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
