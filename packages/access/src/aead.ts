/** Encrypts with AES-256-GCM and a random nonce. The result is base64url of nonce | ciphertext | tag. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { NamedError } from '@lodge/domain';

const nonceBytes = 12;
const tagBytes = 16;

/** Thrown when a sealed secret does not open. Neither message nor cause contains any part of it. */
export class SecretBoxError extends NamedError {}

/** Encrypts a text. `associated` is bound to the result, which opens only with the same value. */
export function encrypt(key: Buffer, plaintext: Buffer, associated: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from(associated, 'utf8'));
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]).toString('base64url');
}

/** Decrypts a text. Throws `SecretBoxError`. */
export function decrypt(key: Buffer, payload: string, associated: string): Buffer {
  const bytes = Buffer.from(payload, 'base64url');
  if (bytes.length < nonceBytes + tagBytes) throw new SecretBoxError('This sealed secret is cut short.');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(associated, 'utf8'));
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  const body = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
  try {
    return Buffer.concat([body, decipher.final()]);
  } catch {
    throw new SecretBoxError('This sealed secret is damaged or was sealed for another place.');
  }
}
