/**
 * API keys: `lodge_live_` and 43 base62 characters, of which 37 are random (220 bits) and the last 6 are the CRC-32 of
 * all before them. A mistyped or cut key is told without a look in the store. At rest only the SHA-256 is kept: plain,
 * as nobody guesses 220 random bits.
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

/** Whether `presented` could be a key of ours: its shape and checksum are right. */
export function isWellFormedApiKey(presented: string): boolean {
  return shape.test(presented) && presented.endsWith(checksum(presented.slice(0, -checksumLength)));
}

/** What the store holds of a key: 32 bytes. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

export function lastFour(key: string): string {
  return key.slice(-4);
}

/** CRC-32 in base 62, padded: 62^6 > 2^32. */
function checksum(text: string): string {
  let value = crc32(text);
  let encoded = '';
  for (let i = 0; i < checksumLength; i++) {
    encoded = digits[value % digits.length]! + encoded;
    value = Math.floor(value / digits.length);
  }
  return encoded;
}
