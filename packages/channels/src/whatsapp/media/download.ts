import { mediaKeysOf } from '../device/library.ts';
import { unseal } from './cipher.ts';
import { MediaError } from './host.ts';
import type { MediaHost } from './host.ts';
import type { Refs } from './refs.ts';

/** WhatsApp publishes no bound for linked devices; what more a sender may send is not fetched. */
export const maxFileInBytes = 100 * 1024 * 1024;

export interface DownloadOptions {
  readonly host: MediaHost;
  readonly refs: Refs;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** The bytes of a file that came in. It rejects, and ends, with an error: what was read until then is no file. */
export async function openFile(
  ref: string,
  { host, refs, maxBytes, signal }: DownloadOptions,
): Promise<AsyncIterable<Uint8Array>> {
  const stored = refs.open(ref);
  if (stored === null) throw new MediaError('this is no file of this channel');
  const keys = await mediaKeysOf(stored.key, stored.kind);
  return unseal(await host.get(stored.path, signal), keys, stored, Math.min(maxBytes, maxFileInBytes));
}
