/** Files of senders, into the agent's workspace. */
import { GuestFileFailure } from '@lodge/ports';
import type { ChannelFiles, GuestAddress, GuestFiles, WaitingFile, WaitingMessage } from '@lodge/ports';
import { fileBounds } from './bounds.ts';
import { safeName } from './file-names.ts';
import { fileTroubles } from './file-troubles.ts';

export interface InboxDeps {
  readonly files: Pick<ChannelFiles, 'read'>;
  readonly guestFiles: GuestFiles;
}

/** Where the files of a message lie now, and those that are not there, each with a few words. */
export interface Delivered {
  readonly files: readonly string[];
  readonly missingFiles: readonly string[];
}

/** What is left of the bounds of one turn. */
export interface Budget {
  count: number;
  bytes: number;
}

export const newBudget = (): Budget => ({ count: fileBounds.count, bytes: fileBounds.allBytes });

/** Each message has a folder of its own: a turn that is repeated writes the same files again. */
export async function deliver(
  deps: InboxDeps,
  message: WaitingMessage,
  guest: GuestAddress,
  budget: Budget,
  signal: AbortSignal,
): Promise<Delivered> {
  const files: string[] = [];
  const missingFiles: string[] = [];
  const taken = new Set<string>();
  for (const file of message.files) {
    const name = freeName(safeName(file.name), taken);
    const path = `inbox/${message.id}/${name}`;
    const trouble = await put(deps, file, { path, guest, budget, signal });
    if (trouble === null) files.push(`/workspace/${path}`);
    else missingFiles.push(`${name}: ${trouble}`);
  }
  return { files, missingFiles };
}

function freeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let count = 2; taken.has(free); count += 1) free = `${count}-${name}`;
  taken.add(free);
  return free;
}

interface Place {
  readonly path: string;
  readonly guest: GuestAddress;
  readonly budget: Budget;
  readonly signal: AbortSignal;
}

/** Null, or why it could not be put there. */
async function put(
  { files, guestFiles }: InboxDeps,
  file: WaitingFile,
  { path, guest, budget, signal }: Place,
): Promise<string | null> {
  if (file.key === null) return file.reason ?? 'it could not be had';
  if (budget.count === 0) return 'too many files at once';
  budget.count -= 1;
  try {
    await guestFiles.write(guest, path, within(files.read(file.key), budget), signal);
    return null;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TooManyBytes) return fileTroubles.too_large;
    return error instanceof GuestFileFailure ? fileTroubles[error.trouble] : 'it is not there any more';
  }
}

class TooManyBytes extends Error {}

async function* within(bytes: AsyncIterable<Uint8Array>, budget: Budget): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.length;
    budget.bytes -= chunk.length;
    if (length > fileBounds.bytes || budget.bytes < 0) throw new TooManyBytes();
    yield chunk;
  }
}
