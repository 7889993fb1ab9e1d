/** The bytes that come on stdin, as text for a request. */
import { usageError } from '../failure.ts';
import type { Run } from '../run.ts';

/** Reads stdin to its end, as UTF-8; refuses more than `maxBytes`. */
export async function readBytes(run: Run, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  const stop = (): void => {
    process.stdin.destroy();
  };
  run.signal.addEventListener('abort', stop, { once: true });
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw usageError(`stdin has more than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  run.signal.throwIfAborted();
  return Buffer.concat(chunks).toString('utf8');
}
