/** The listing of a folder of a guest, as the guest gives it: whoever reads it trusts no byte. */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ExecEvent, GuestClient } from '@lodge/guest';
import { maxListingBytes } from '@lodge/ports';

const timeoutMs = 15_000;

/** Writes at most `maxListingBytes`: records of `type size mtime path`, each ended by a zero byte, in the guest's order. */
export async function writeListing(
  guest: GuestClient,
  folder: string,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const argv = ['find', folder, '-mindepth', '1', '-printf', String.raw`%y %s %T@ %P\0`];
  const request = { argv, user: 'root', timeoutMs: timeoutMs * guest.pace, maxOutputBytes: maxListingBytes } as const;
  const events = await guest.execStream(request, { signal });
  await pipeline(Readable.from(outputOf(events)), createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal });
}

async function* outputOf(events: AsyncIterable<ExecEvent>): AsyncGenerator<Uint8Array> {
  for await (const event of events) if (event.kind === 'stdout') yield event.bytes;
}
