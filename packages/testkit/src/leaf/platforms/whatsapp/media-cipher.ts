/** Files as phones encrypt them for the media host. By Node's own crypto, as WhatsApp's clients do it, and not by the library under test. */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import { expand } from './curve.ts';

export type MediaKind = 'image' | 'video' | 'audio' | 'document';

/** A message's data of a file beside its address. */
export interface FileKeys {
  readonly mediaKey: Buffer;
  readonly fileSha256: Buffer;
  readonly fileEncSha256: Buffer;
}

const infos: Readonly<Record<MediaKind, string>> = {
  image: 'WhatsApp Image Keys',
  video: 'WhatsApp Video Keys',
  audio: 'WhatsApp Audio Keys',
  document: 'WhatsApp Document Keys',
};
const macBytes = 10;

export const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

export function sealFile(bytes: Uint8Array, kind: MediaKind): FileKeys & { readonly sealed: Buffer } {
  const mediaKey = randomBytes(32);
  const { iv, cipherKey, macKey } = keysOf(mediaKey, kind);
  const cipher = createCipheriv('aes-256-cbc', cipherKey, iv);
  const body = Buffer.concat([cipher.update(bytes), cipher.final()]);
  const sealed = Buffer.concat([body, macOf(macKey, iv, body)]);
  return { sealed, mediaKey, fileSha256: sha256(bytes), fileEncSha256: sha256(sealed) };
}

/** Throws where a phone would show that the file cannot be read. */
export function openFile(sealed: Buffer, kind: MediaKind, keys: FileKeys): Buffer {
  const { iv, cipherKey, macKey } = keysOf(keys.mediaKey, kind);
  const body = sealed.subarray(0, -macBytes);
  if (!macOf(macKey, iv, body).equals(sealed.subarray(-macBytes))) throw new Error('the HMAC of the file is wrong');
  if (!sha256(sealed).equals(keys.fileEncSha256)) throw new Error('the hash of the encrypted file is wrong');
  const decipher = createDecipheriv('aes-256-cbc', cipherKey, iv);
  const plain = Buffer.concat([decipher.update(body), decipher.final()]);
  if (!sha256(plain).equals(keys.fileSha256)) throw new Error('the hash of the file is wrong');
  return plain;
}

function keysOf(mediaKey: Uint8Array, kind: MediaKind) {
  const all = expand(mediaKey, 112, Buffer.alloc(0), infos[kind]);
  return { iv: all.subarray(0, 16), cipherKey: all.subarray(16, 48), macKey: all.subarray(48, 80) };
}

const macOf = (key: Buffer, iv: Buffer, body: Buffer): Buffer =>
  createHmac('sha256', key).update(iv).update(body).digest().subarray(0, macBytes);
