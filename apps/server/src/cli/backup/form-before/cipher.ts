/**
 * Opens sealed chunks and lists: AES-256-GCM as nonce | ciphertext | tag, after Zstandard. A chunk's name is an HMAC of its
 * bytes. Both keys come from the master key.
 */
import { createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { BackupError } from '@lodge/backup';

const nonceBytes = 12;
const tagBytes = 16;
const nameLength = 40;
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

  /** Throws `BackupError`, which names `path`, when a bit of it has changed. Returns at most `maxBytes`. */
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
