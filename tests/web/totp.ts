import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const stepMs = 30_000;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The six digits of RFC 6238 (SHA-1, 30 s) for a base32 secret at a time step. */
export function totp(secret: string, step = Math.floor(Date.now() / stepMs)): string {
  const bits = Array.from(secret.replace(/[\s=]/g, '').toUpperCase())
    .map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', Buffer.from(bytes)).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 15;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

let lastStep = 0;

/** A code that was not given before: a server takes each only once, so this may wait for the next (at most 30 s). */
export async function freshTotp(secret: string): Promise<string> {
  const step = Math.max(lastStep + 1, Math.floor(Date.now() / stepMs));
  await sleep(Math.max(0, step * stepMs - Date.now() + 200));
  lastStep = step;
  return totp(secret, step);
}
