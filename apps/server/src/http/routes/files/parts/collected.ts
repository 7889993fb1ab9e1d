/**
 * V8 does not see the bytes behind a stream's buffers, only the few objects that hold them. Some 64 MiB of a passing file
 * pile up before it collects them (measured), and the process keeps that memory. A minor collection every few megabytes
 * takes a millisecond or two and prevents this.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const everyBytes = 4 * 1024 * 1024;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void;
/** Bytes of all running files together. */
let passed = 0;

/** Yields the same chunks, and collects garbage now and then. */
export async function* collected(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    yield chunk;
    passed += chunk.length;
    if (passed < everyBytes) continue;
    passed = 0;
    collect({ type: 'minor' });
  }
}
