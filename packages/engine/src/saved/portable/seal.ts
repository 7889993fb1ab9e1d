/**
 * The sealed form of an export:
 *
 *   `LODGE-SEALED-1\n`, a salt of 16 bytes, then chunks of 64 KiB, each with a tag of 16 bytes; the last may be shorter.
 *
 * The key is scrypt's of passphrase and salt, AES-256-GCM seals each chunk. The nonce is the chunk's number and whether it is the
 * last, so chunks that are missing, swapped, repeated or appended are found. Each file has its own salt, and so its own key. The
 * parameters belong to the form: a file cannot ask for work that nobody should do.
 */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { ByteSource } from './bytes.ts';
import type { Bytes } from './bytes.ts';
import { ImportProblem } from './problem.ts';

export const sealedMark = Buffer.from('LODGE-SEALED-1\n');
const saltBytes = 16;
const chunkBytes = 64 * 1024;
const tagBytes = 16;
const cost = { N: 2 ** 16, r: 8, p: 1, maxmem: 96 * 2 ** 20 };

/** Seals the bytes under the passphrase. */
export async function* seal(bytes: Bytes, passphrase: string): AsyncGenerator<Buffer> {
  const salt = randomBytes(saltBytes);
  const head = Buffer.concat([sealedMark, salt]);
  const key = await keyOf(passphrase, salt);
  yield head;
  const source = new ByteSource(bytes);
  let chunk = await source.upTo(chunkBytes);
  for (let number = 0; ; number += 1) {
    const next = chunk.length < chunkBytes ? null : await source.upTo(chunkBytes);
    const isLast = next === null || next.length === 0;
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(number, isLast)).setAAD(head);
    yield Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
    if (isLast) return;
    chunk = next;
  }
}

/** Opens sealed bytes, from behind the mark on. Throws an `ImportProblem`; what came before is genuine, but not all. */
export async function* unseal(source: ByteSource, passphrase: string): AsyncGenerator<Buffer> {
  const salt = await source.exactly(saltBytes);
  const head = Buffer.concat([sealedMark, salt]);
  const key = await keyOf(passphrase, salt);
  let sealed = await source.upTo(chunkBytes + tagBytes);
  for (let number = 0; ; number += 1) {
    const next = sealed.length < chunkBytes + tagBytes ? null : await source.upTo(chunkBytes + tagBytes);
    const isLast = next === null || next.length === 0;
    yield open(sealed, { key, head, number, isLast });
    if (isLast) return;
    sealed = next;
  }
}

interface Place {
  readonly key: Buffer;
  readonly head: Buffer;
  readonly number: number;
  readonly isLast: boolean;
}

function open(sealed: Buffer, { key, head, number, isLast }: Place): Buffer {
  if (sealed.length < tagBytes) throw new ImportProblem('it is cut short');
  const end = sealed.length - tagBytes;
  const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(number, isLast), { authTagLength: tagBytes });
  decipher.setAAD(head).setAuthTag(sealed.subarray(end));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, end)), decipher.final()]);
  } catch (error) {
    throw new ImportProblem(
      number === 0
        ? 'X-Passphrase does not open it, or it was changed'
        : 'it is cut short, or was changed after it was made',
      { cause: error },
    );
  }
}

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(number, 7);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

const keyOf = (passphrase: string, salt: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(passphrase, salt, 32, cost, (error, key) => (error ? reject(error) : resolve(key)));
  });
