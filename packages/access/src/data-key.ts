/**
 * The data key, which seals the secrets. It lies in the database, wrapped with the master key, as `w1.<master key
 * id>.<payload>`. The master key itself therefore seals one thing, and changing it is bounded work.
 */
import { createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { DataKeyRow } from '@lodge/ports';
import { SecretBoxError, decrypt, encrypt } from './aead.ts';

const dataKeyBytes = 32;
export const masterKeyBytes = 32;

export interface DataKey {
  readonly id: string;
  readonly key: Buffer;
}

/** Returns the fingerprint of a master key. It tells which key opens a value, and a wrong key from damaged data. */
export function masterKeyId(masterKey: Uint8Array): string {
  if (masterKey.length !== masterKeyBytes) throw new SecretBoxError(`A master key has ${masterKeyBytes} bytes.`);
  return createHash('sha256').update('lodge master key id').update(masterKey).digest('hex').slice(0, 8);
}

export function makeDataKey(masterKey: Uint8Array): DataKeyRow {
  const id = randomBytes(8).toString('hex');
  const prefix = prefixOf(masterKey);
  const wrapped = prefix + encrypt(wrappingKey(masterKey), randomBytes(dataKeyBytes), `${prefix}${id}`);
  return { id, wrapped, masterKeyId: masterKeyId(masterKey) };
}

/** Unwraps a data key. Throws `SecretBoxError` when another master key wrapped it, or it is damaged. */
export function unwrapDataKey(masterKey: Uint8Array, { id, wrapped }: DataKeyRow): DataKey {
  const prefix = prefixOf(masterKey);
  if (!wrapped.startsWith(prefix)) {
    throw new SecretBoxError(`The data key ${id} was sealed under another master key than ${masterKeyId(masterKey)}.`);
  }
  return { id, key: decrypt(wrappingKey(masterKey), wrapped.slice(prefix.length), `${prefix}${id}`) };
}

const prefixOf = (masterKey: Uint8Array): string => `w1.${masterKeyId(masterKey)}.`;

function wrappingKey(masterKey: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, '', 'lodge data key v1', 32));
}
