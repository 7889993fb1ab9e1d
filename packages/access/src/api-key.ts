/**
 * API keys: `lodge_live_` and 43 base62 characters. 37 of them are random (220 bits), and the last 6 are the CRC-32 of all
 * before them. A mistyped or cut key is recognised without a look-up. The store holds only the plain SHA-256, because nobody
 * guesses 220 random bits.
 */
import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

export const apiKeyPrefix = 'lodge_live_';
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 37;
const checksumLength = 6;
const shape = new RegExp(`^${apiKeyPrefix}[0-9A-Za-z]{${randomLength + checksumLength}}$`);

export function makeApiKey(): string {
  let key = apiKeyPrefix;
  for (let i = 0; i < randomLength; i++) key += digits[randomInt(digits.length)];
  return key + checksum(key);
}

/** Whether `presented` has the shape and checksum of our keys. */
export function isWellFormedApiKey(presented: string): boolean {
  return shape.test(presented) && presented.endsWith(checksum(presented.slice(0, -checksumLength)));
}

/** Returns the 32 bytes of a key that the store holds. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

export function lastFour(key: string): string {
  return key.slice(-4);
}

/** Returns the CRC-32 in base 62, padded: 62^6 > 2^32. */
function checksum(text: string): string {
  let value = crc32(text);
  let encoded = '';
  for (let i = 0; i < checksumLength; i++) {
    encoded = digits[value % digits.length]! + encoded;
    value = Math.floor(value / digits.length);
  }
  return encoded;
}
