import { constants } from 'node:zlib';
import compress from '@fastify/compress';
import type { App } from '../app-types.ts';

/** A smaller reply costs more than it saves. */
const leastBytes = 2048;

/**
 * Compresses JSON of this scope for clients that accept it; never event streams, because they would be delayed. Not for the
 * account area: its replies hold secrets beside text that a page can choose, and a length would reveal them.
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
