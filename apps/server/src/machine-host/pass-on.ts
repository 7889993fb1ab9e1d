import type { Readable, Writable } from 'node:stream';

/**
 * Passes lines of a process without privileges on as this one's, with a bound on bytes a millisecond; a process that writes
 * more waits. A process that shared a file with this one could empty it, and change how it is written to.
 */
export function passOn(lines: Readable, to: Writable, bytesPerMs: number): void {
  lines.on('data', (chunk: Buffer) => {
    to.write(chunk);
    lines.pause();
    setTimeout(() => lines.resume(), chunk.length / bytesPerMs);
  });
}
