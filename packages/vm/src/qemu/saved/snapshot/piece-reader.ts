/**
 * Reads the file of a snapshot's pages piece by piece, for threads. Each piece is checked before any of it is used, and a
 * packed one is unpacked within the size that it may have.
 */
import { crc32, zstdDecompressSync } from 'node:zlib';
import { readSome } from '../../host/whole-reads.ts';
import { chunkBytes, damaged } from './page-job.ts';
import type { SavedPages } from './page-job.ts';

/** Returns the next piece with each call; its bytes hold until the next call. Throws `damaged`, at the end too. */
export function pieceReader(file: number, { bytes, sums, packed }: SavedPages): () => Buffer {
  const chunk = Buffer.alloc(chunkBytes);
  let piece = 0;
  let at = 0;
  return () => {
    const wanted = Math.min(chunkBytes, bytes - piece * chunkBytes);
    if (wanted <= 0) throw new Error(damaged);
    const stored = packed ? packed[piece] : wanted;
    if (stored === undefined || stored > chunkBytes * 2) throw new Error(damaged);
    const found = packed ? Buffer.alloc(stored) : chunk.subarray(0, wanted);
    if (readSome(file, found, at) !== stored) throw new Error(damaged);
    const plain = packed ? unpacked(found, wanted) : found;
    if (crc32(plain) !== sums[piece]) throw new Error(damaged);
    at += stored;
    piece += 1;
    return plain;
  };
}

function unpacked(frame: Buffer, bytes: number): Buffer {
  try {
    const plain = zstdDecompressSync(frame, { maxOutputLength: chunkBytes });
    if (plain.length === bytes) return plain;
  } catch {
    // It is no frame, or one that unpacks to more than a piece.
  }
  throw new Error(damaged);
}
