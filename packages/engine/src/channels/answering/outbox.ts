/** Takes the files that an answer links to out of the agent's workspace. */
import type { Holder } from '@lodge/domain';
import { GuestFileFailure, NoRoomError } from '@lodge/ports';
import type { ChannelAnswer, ChannelFiles, GuestAddress, GuestFiles } from '@lodge/ports';
import { fileBounds } from './bounds.ts';
import { mediaTypeOf, safeName } from './file-names.ts';
import { fileTroubles } from './file-troubles.ts';

/** The agent whose workspace has the files, and the guest that is asked for them. */
export interface FileSource {
  readonly owner: Holder;
  readonly guestOf: () => Promise<GuestAddress>;
}

export interface OutboxDeps {
  readonly files: ChannelFiles;
  readonly guestFiles: GuestFiles;
}

export interface Collected {
  readonly files: ChannelAnswer['files'];
  /** Sentences about the files that cannot be sent. */
  readonly notSent: readonly string[];
}

const root = '/workspace/';

/** Collects the files. Asks for the guest only if there is a file. Keeps nothing after an abort. */
export async function collect(
  deps: OutboxDeps,
  paths: readonly string[],
  { owner, guestOf }: FileSource,
  signal: AbortSignal,
): Promise<Collected> {
  const files: ChannelAnswer['files'][number][] = [];
  const notSent: string[] = [];
  let bytesLeft: number = fileBounds.allBytes;
  try {
    for (const path of paths.slice(0, fileBounds.count)) {
      const name = safeName(path.slice(path.lastIndexOf('/') + 1));
      const maxBytes = Math.min(fileBounds.bytes, bytesLeft);
      const taken = await take(deps, path.slice(root.length), {
        owner,
        guest: await guestOf(),
        maxBytes,
        signal,
      });
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

/**
 * Removes files that nobody needs any more. One that cannot be removed now is removed later, because no row says that it is
 * needed.
 */
export async function discard(
  { files }: { readonly files: Pick<ChannelFiles, 'remove'> },
  written: readonly { readonly key: string }[],
): Promise<void> {
  for (const { key } of written) await files.remove(key).catch(() => undefined);
}

interface Source {
  readonly owner: Holder;
  readonly guest: GuestAddress;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

async function take(
  { files, guestFiles }: OutboxDeps,
  path: string,
  { owner: { accountId, agentId }, guest, maxBytes, signal }: Source,
): Promise<{ readonly key: string; readonly bytes: number } | string> {
  try {
    const owner = { accountId, agentId, way: 'out' } as const;
    return await files.write(owner, await guestFiles.read(guest, path, maxBytes, signal), maxBytes, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof NoRoomError) return 'too many files are on their way, or the host has no room';
    return error instanceof GuestFileFailure ? fileTroubles[error.trouble] : fileTroubles.unavailable;
  }
}
