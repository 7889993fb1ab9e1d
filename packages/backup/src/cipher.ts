/**
 * What chunks and lists of a backup are sealed with. Both keys come from the master key, so a backup opens with it alone:
 * AES-256-GCM with a random nonce, as nonce | ciphertext | tag, after Zstandard. A chunk's name is an HMAC of its bytes, so
 * equal bytes have one name, and nobody without the key can tell from a name what a chunk holds.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import { BackupError } from './errors.ts';

const nonceBytes = 12;
const tagBytes = 16;
const nameLength = 40;
const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

export class Cipher {
  private readonly sealing: Buffer;
  private readonly naming: Buffer;

  constructor(masterKey: Buffer) {
    this.sealing = Buffer.from(hkdfSync('sha256', masterKey, '', 'lodge backup seal v1', 32));
    this.naming = Buffer.from(hkdfSync('sha256', masterKey, '', 'lodge backup name v1', 32));
  }

  nameOf(bytes: Uint8Array): string {
    return createHmac('sha256', this.naming).update(bytes).digest('hex').slice(0, nameLength);
  }

  /** `name` is bound to the result: under another one it does not open. */
  async seal(bytes: Uint8Array, name: string): Promise<Buffer> {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.sealing, nonce, { authTagLength: tagBytes });
    cipher.setAAD(Buffer.from(name));
    const body = cipher.update(await compress(bytes));
    return Buffer.concat([nonce, body, cipher.final(), cipher.getAuthTag()]);
  }

  /** Throws `BackupError`, which names `path`, when a bit of it has changed. At most `maxBytes` come out. */
  async open(sealed: Buffer, name: string, path: string, maxBytes: number): Promise<Buffer> {
    if (sealed.length < nonceBytes + tagBytes) throw new BackupError(`${path} is cut short.`);
    const nonce = sealed.subarray(0, nonceBytes);
    const decipher = createDecipheriv('aes-256-gcm', this.sealing, nonce, { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(name));
    decipher.setAuthTag(sealed.subarray(-tagBytes));
    const body = decipher.update(sealed.subarray(nonceBytes, -tagBytes));
    try {
      return await decompress(Buffer.concat([body, decipher.final()]), { maxOutputLength: maxBytes });
    } catch (cause) {
      throw new BackupError(`${path} is damaged: it is not what was written.`, { cause });
    }
  }
}
