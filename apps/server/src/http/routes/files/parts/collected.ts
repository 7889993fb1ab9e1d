/**
 * V8 does not see the bytes behind a stream's buffers, only the few objects that hold them: of a file that passes through, some
 * 64 MiB pile up before it collects them (measured), and the process keeps what it once had. A look at the youngest objects
 * every few megabytes takes a millisecond or two and keeps it within that.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const everyBytes = 4 * 1024 * 1024;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void;
/** Bytes of all running files together. */
let passed = 0;

/** The same chunks; what has passed is collected now and then. */
export async function* collected(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    yield chunk;
    passed += chunk.length;
    if (passed < everyBytes) continue;
    passed = 0;
    collect({ type: 'minor' });
  }
}
