import type { Readable, Writable } from 'node:stream';

/**
 * Lines of a process without privileges become this one's, at so many bytes a millisecond at most; one that writes more
 * waits. A process that shared a file with this one could empty it, and change how it is written to.
 */
export function passOn(lines: Readable, to: Writable, bytesPerMs: number): void {
  lines.on('data', (chunk: Buffer) => {
    to.write(chunk);
    lines.pause();
    setTimeout(() => lines.resume(), chunk.length / bytesPerMs);
  });
}
