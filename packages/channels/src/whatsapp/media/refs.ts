/**
 * References by which a message's file is fetched. Its key is a secret, and a message lies in the database in the clear: so
 * the reference is encrypted with a key of the device, which the vault keeps. It lives as long as its message, and nobody
 * else can make one.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { asObject } from '@lodge/domain';
import type { MediaKind } from '../device/library.ts';
import { isMediaPath } from './host.ts';

/** A file at the media host. */
export interface StoredFile {
  readonly kind: MediaKind;
  readonly path: string;
  readonly key: Uint8Array;
  /** SHA-256 of the file, and of what lies at the media host. */
  readonly plain: Uint8Array;
  readonly sealed: Uint8Array;
}

/** In the place of a reference, for a file that the sender's phone did not say enough about. */
export const noRef = 'none';

const algorithm = 'aes-256-gcm';
const maxRefChars = 2_048;
const nonceBytes = 12;
const tagBytes = 16;
const hashBytes = 32;

export class Refs {
  private readonly key: Buffer;

  /** `secret`: of the device, for as long as it is paired. */
  constructor(secret: Uint8Array) {
    this.key = Buffer.from(hkdfSync('sha256', secret, '', 'lodge: references of files', 32));
  }

  of({ kind, path, key, plain, sealed }: StoredFile): string {
    const text = JSON.stringify([kind, path, ...[key, plain, sealed].map((bytes) => base64Of(bytes))]);
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.key, nonce);
    const bytes = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
    return base64Of(Buffer.concat(bytes));
  }

  /** Null: nobody gave it out, or another device did. */
  open(ref: string): StoredFile | null {
    if (ref.length > maxRefChars) return null;
    const bytes = Buffer.from(ref, 'base64url');
    if (bytes.length <= nonceBytes + tagBytes) return null;
    const decipher = createDecipheriv(algorithm, this.key, bytes.subarray(0, nonceBytes));
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    try {
      const text = Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]);
      const [kind, path, ...rest] = JSON.parse(text.toString()) as [MediaKind, string, ...string[]];
      const [key, plain, sealed] = rest.map((each) => Buffer.from(each, 'base64url'));
      return { kind, path, key: key!, plain: plain!, sealed: sealed! };
    } catch {
      return null;
    }
  }
}

/** Reads a stranger's description of a file. Null: not enough to fetch it and to know it. */
export function storedFileOf(kind: MediaKind, media: object): StoredFile | null {
  const { mediaKey, directPath, fileSha256, fileEncSha256 } = asObject(media) ?? {};
  if (!isHash(mediaKey) || !isHash(fileSha256) || !isHash(fileEncSha256)) return null;
  if (typeof directPath !== 'string' || !isMediaPath(directPath)) return null;
  return { kind, path: directPath, key: mediaKey, plain: fileSha256, sealed: fileEncSha256 };
}

const isHash = (value: unknown): value is Uint8Array => value instanceof Uint8Array && value.length === hashBytes;

const base64Of = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
