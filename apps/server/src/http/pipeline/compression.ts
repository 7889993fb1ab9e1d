import { constants } from 'node:zlib';
import compress from '@fastify/compress';
import type { App } from '../app-types.ts';

/** Below this it costs more than it saves. */
const leastBytes = 2048;

/**
 * Compresses JSON of this scope for clients that take it; streams of events never, for they would be held back. Not for the
 * account area: its replies hold secrets beside what a page can choose, and a length would tell of them.
 */
export async function addCompression(app: App): Promise<void> {
  await app.register(compress, {
    globalDecompression: false,
    threshold: leastBytes,
    encodings: ['br', 'gzip'],
    customTypes: /^application\/json\b/,
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
  });
}
