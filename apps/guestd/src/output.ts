import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** Once a command has ended, its output has too when nothing came for so long: processes that left its group may hold the pipe open. */
const quietMs = 250;
/** The longest that is waited for them while they go on writing. */
const longestMs = 2_000;
/** The longest that is waited for a reader who takes nothing. */
const heldUpMs = 60_000;
const pollMs = 25;

/** Passes on the first `limit` bytes of a stream, at the pace of whoever takes them, and drops the rest. */
export class Output {
  truncated = false;
  private readonly take: (chunk: Buffer) => Promise<void> | undefined;
  private readonly ended: Promise<void>;
  private room: number;
  private isOver = false;
  private isHeldUp = false;
  private lastAt = performance.now();

  constructor(stream: Readable | null, limit: number, take: (chunk: Buffer) => Promise<void> | undefined) {
    this.room = limit;
    this.take = take;
    this.ended = this.run(stream).finally(() => (this.isOver = true));
  }

  /**
   * Resolves when all has been passed on, or is not worth waiting for; with `gone`, at once. The end of a process may be
   * told before its last output, so the quiet time begins here and passes in steps of the event loop, each of which reads.
   */
  async settled(gone: AbortSignal): Promise<void> {
    const deadline = performance.now() + longestMs;
    let heardAt = this.lastAt;
    let quietSteps = 0;
    const isQuiet = (): boolean => {
      const now = performance.now();
      if (this.isHeldUp) return now - this.lastAt > heldUpMs;
      return quietSteps >= quietMs / pollMs || now > deadline;
    };
    while (!this.isOver && !gone.aborted && !isQuiet()) {
      await Promise.race([this.ended, sleep(pollMs)]);
      quietSteps = this.lastAt === heardAt ? quietSteps + 1 : 0;
      heardAt = this.lastAt;
    }
  }

  private async run(stream: Readable | null): Promise<void> {
    if (stream === null) return;
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) await this.pass(chunk);
    } catch {
      // Nobody takes it any more, or the pipe was given up.
    }
  }

  private async pass(chunk: Buffer): Promise<void> {
    this.lastAt = performance.now();
    const kept = chunk.subarray(0, this.room);
    if (kept.length < chunk.length) this.truncated = true;
    this.room -= kept.length;
    if (kept.length === 0) return;
    this.isHeldUp = true;
    await this.take(kept);
    this.isHeldUp = false;
    this.lastAt = performance.now();
  }
}

/** Writes at the pace of the reader. Rejects when that one has gone. */
export async function writeTo(stream: Writable, chunk: Buffer, gone: AbortSignal): Promise<void> {
  gone.throwIfAborted();
  if (!stream.write(chunk)) await once(stream, 'drain', { signal: gone });
}
