/**
 * Files as WhatsApp's media host keeps them: AES-256-CBC, then ten bytes of an HMAC over the initial vector and what was encrypted.
 *
 * The library derives the keys. Its own download looks at neither the HMAC nor a hash, has no bound of bytes, follows redirects and
 * takes the host from the message; its upload follows redirects and reads answers of any size. So the bytes go through here.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { NamedError } from '@lodge/domain';
import { TooLargeError } from '../../shared/bounded.ts';
import type { MediaKeys } from '../device/library.ts';

const algorithm = 'aes-256-cbc';
const blockBytes = 16;
const macBytes = 10;

/** How many bytes it takes at the media host. */
export const sealedBytes = (bytes: number): number => bytes - (bytes % blockBytes) + blockBytes + macBytes;

/** The received bytes differ from the sent ones. */
export class DamagedFileError extends NamedError {
  constructor() {
    super('the file is damaged');
  }
}

export interface Digests {
  /** SHA-256 of the file, and of what lies at the media host. */
  readonly plain: Uint8Array;
  readonly sealed: Uint8Array;
}

/** Encrypts. Ends with a `DamagedFileError` before its last bytes where the source is not the one with this SHA-256. */
export async function* seal(
  source: AsyncIterable<Uint8Array>,
  keys: MediaKeys,
  expected?: Uint8Array,
): AsyncGenerator<Uint8Array> {
  const cipher = createCipheriv(algorithm, keys.cipherKey, keys.iv);
  const hmac = createHmac('sha256', keys.macKey).update(keys.iv);
  const hash = createHash('sha256');
  for await (const chunk of source) {
    hash.update(chunk);
    const bytes = cipher.update(chunk);
    hmac.update(bytes);
    if (bytes.length > 0) yield bytes;
  }
  if (expected && !isEqual(hash.digest(), expected)) throw new DamagedFileError();
  const last = cipher.final();
  const mac = hmac.update(last).digest().subarray(0, macBytes);
  yield Buffer.concat([last, mac]);
}

/** Computes a file's digests at the media host, without storing it. */
export async function digestsOf(source: AsyncIterable<Uint8Array>, keys: MediaKeys): Promise<Digests> {
  const plain = createHash('sha256');
  const sealed = createHash('sha256');
  const noting = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      plain.update(chunk);
      yield chunk;
    }
  };
  for await (const chunk of seal(noting(), keys)) sealed.update(chunk);
  return { plain: plain.digest(), sealed: sealed.digest() };
}

/**
 * Decrypts at most `maxBytes`. Its output is proved to be the file only after a good end. Otherwise it ends with a
 * `DamagedFileError` or a `TooLargeError`, and it keeps the last block back until then.
 */
export async function* unseal(
  body: AsyncIterable<Uint8Array>,
  keys: MediaKeys,
  digests: Digests,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  const decipher = createDecipheriv(algorithm, keys.cipherKey, keys.iv);
  const hmac = createHmac('sha256', keys.macKey).update(keys.iv);
  const plain = createHash('sha256');
  const sealed = createHash('sha256');
  let bytes = 0;
  const counted = (chunk: Buffer): Buffer => {
    plain.update(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) throw new TooLargeError(maxBytes);
    return chunk;
  };
  let tail = Buffer.alloc(0);
  for await (const chunk of body) {
    sealed.update(chunk);
    const all = Buffer.concat([tail, chunk]);
    const end = Math.max(0, all.length - macBytes);
    tail = Buffer.from(all.subarray(end));
    hmac.update(all.subarray(0, end));
    const opened = counted(decipher.update(all.subarray(0, end)));
    if (opened.length > 0) yield opened;
  }
  const isWhole = isEqual(hmac.digest().subarray(0, macBytes), tail) && isEqual(sealed.digest(), digests.sealed);
  const last = isWhole ? counted(lastOf(decipher)) : null;
  if (last === null || !isEqual(plain.digest(), digests.plain)) throw new DamagedFileError();
  if (last.length > 0) yield last;
}

function lastOf(decipher: ReturnType<typeof createDecipheriv>): Buffer {
  try {
    return decipher.final();
  } catch {
    throw new DamagedFileError();
  }
}

const isEqual = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && timingSafeEqual(one, other);
