/** Files that an answer links to, out of the agent's workspace. */
import { GuestFileFailure } from '@lodge/ports';
import type { ChannelAnswer, ChannelFiles, GuestAddress, GuestFiles } from '@lodge/ports';
import { fileBounds } from './bounds.ts';
import { mediaTypeOf, safeName } from './file-names.ts';
import { fileTroubles } from './file-troubles.ts';

export interface OutboxDeps {
  readonly files: ChannelFiles;
  readonly guestFiles: GuestFiles;
}

export interface Collected {
  readonly files: ChannelAnswer['files'];
  /** Sentences on those that cannot be sent. */
  readonly notSent: readonly string[];
}

const root = '/workspace/';

/** The guest is asked for only where there is a file. On an abort nothing is kept. */
export async function collect(
  deps: OutboxDeps,
  paths: readonly string[],
  guestOf: () => Promise<GuestAddress>,
  signal: AbortSignal,
): Promise<Collected> {
  const files: ChannelAnswer['files'][number][] = [];
  const notSent: string[] = [];
  let bytesLeft: number = fileBounds.allBytes;
  try {
    for (const path of paths.slice(0, fileBounds.count)) {
      const name = safeName(path.slice(path.lastIndexOf('/') + 1));
      const maxBytes = Math.min(fileBounds.bytes, bytesLeft);
      const taken = await take(deps, path.slice(root.length), { guest: await guestOf(), maxBytes, signal });
      if (typeof taken === 'string') notSent.push(`(${name} was not sent: ${taken}.)`);
      else {
        bytesLeft -= taken.bytes;
        files.push({ name, mediaType: mediaTypeOf(name), ...taken });
      }
    }
  } catch (error) {
    await discard(deps, files);
    throw error;
  }
  return { files, notSent };
}

/** What is written and not sent would lie there until it is too old. */
export async function discard({ files }: OutboxDeps, written: ChannelAnswer['files']): Promise<void> {
  for (const { key } of written) await files.remove(key).catch(() => undefined);
}

interface Source {
  readonly guest: GuestAddress;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

async function take(
  { files, guestFiles }: OutboxDeps,
  path: string,
  { guest, maxBytes, signal }: Source,
): Promise<{ readonly key: string; readonly bytes: number } | string> {
  try {
    return await files.write(await guestFiles.read(guest, path, maxBytes, signal), maxBytes, signal);
  } catch (error) {
    signal.throwIfAborted();
    return error instanceof GuestFileFailure ? fileTroubles[error.trouble] : fileTroubles.unavailable;
  }
}
