/**
 * Secrets at rest: AES-256-GCM, a random nonce each, the place a secret is for bound to it as associated data.
 *
 * A sealed secret reads `v1.<key id>.<base64url of nonce | ciphertext | tag>`. The key id is a fingerprint of the master
 * key: a later rotation can tell which key opens what, and a wrong master key file is told from damaged data.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { SecretBox } from '@lodge/engine/ports';

const version = 'v1';
const nonceBytes = 12;
const tagBytes = 16;
export const masterKeyBytes = 32;

/** A sealed secret that does not open. Neither message nor cause holds any part of it. */
export class SecretBoxError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SecretBoxError';
  }
}

/** A box under a 32-byte master key, from `loadMasterKey`. */
export function createSecretBox(masterKey: Uint8Array): SecretBox {
  if (masterKey.length !== masterKeyBytes) throw new SecretBoxError(`A master key has ${masterKeyBytes} bytes.`);
  // A key of its own for this use, so that the master key may serve others later.
  const key = Buffer.from(hkdfSync('sha256', masterKey, '', 'lodge secret box v1', 32));
  const keyId = createHash('sha256').update('lodge master key id').update(masterKey).digest('hex').slice(0, 8);
  const prefix = `${version}.${keyId}.`;
  const associated = (context: string): Buffer => Buffer.from(prefix + context, 'utf8');

  return {
    seal(plaintext, context) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
      cipher.setAAD(associated(context));
      const bytes = Buffer.concat([nonce, cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return prefix + bytes.toString('base64url');
    },

    open(sealed, context) {
      const [ownVersion, ownKeyId, payload, ...rest] = sealed.split('.');
      if (ownVersion !== version || payload === undefined || rest.length > 0) {
        throw new SecretBoxError('This is not a sealed secret of a known version.');
      }
      if (ownKeyId !== keyId) {
        throw new SecretBoxError(
          `This secret was sealed under another master key (${ownKeyId}; this one is ${keyId}).`,
        );
      }
      const bytes = Buffer.from(payload, 'base64url');
      if (bytes.length < nonceBytes + tagBytes) throw new SecretBoxError('This sealed secret is cut short.');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
      decipher.setAAD(associated(context));
      decipher.setAuthTag(bytes.subarray(-tagBytes));
      const body = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
      try {
        return Buffer.concat([body, decipher.final()]).toString('utf8');
      } catch {
        throw new SecretBoxError('This sealed secret is damaged or was sealed for another place.');
      }
    },
  };
}
