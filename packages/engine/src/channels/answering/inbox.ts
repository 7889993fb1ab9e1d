/** Puts senders' files into the agent's workspace. */
import type { PromptMessage } from '@lodge/domain';
import { GuestFileFailure } from '@lodge/ports';
import type { ChannelFiles, GuestAddress, GuestFiles, WaitingFile, WaitingMessage } from '@lodge/ports';
import type { PassingFile, Seen, TurnPictures } from '../attachments/turn-pictures.ts';
import { fileBounds } from './bounds.ts';
import { safeName } from './file-names.ts';
import { fileTroubles } from './file-troubles.ts';

export interface InboxDeps {
  readonly files: Pick<ChannelFiles, 'read'>;
  readonly guestFiles: GuestFiles;
}

/** Where the files of a message lie now, and the missing ones, each with a few words. */
export type Delivered = Pick<PromptMessage, 'files' | 'missingFiles' | 'pictures' | 'voiceNotes'>;

/** The rest of the bounds of one turn. */
export interface Budget {
  count: number;
  bytes: number;
  readonly pictures: TurnPictures;
}

export const newBudget = (pictures: TurnPictures): Budget => ({
  count: fileBounds.count,
  bytes: fileBounds.allBytes,
  pictures,
});

/** Each message has a folder of its own, so a repeated turn writes the same files again. */
export async function deliver(
  deps: InboxDeps,
  message: WaitingMessage,
  guest: GuestAddress,
  budget: Budget,
  signal: AbortSignal,
): Promise<Delivered> {
  const files: string[] = [];
  const missingFiles: string[] = [];
  const pictures: string[] = [];
  const voiceNotes: { path: string; seconds: number | null }[] = [];
  const taken = new Set<string>();
  for (const file of message.files) {
    const name = freeName(safeName(file.name), taken);
    const path = `inbox/${message.id}/${name}`;
    const seen = await put(deps, file, { path, guest, budget, signal });
    if (typeof seen === 'string') {
      missingFiles.push(`${name}: ${seen}`);
      continue;
    }
    files.push(`/workspace/${path}`);
    if (seen.isPicture) pictures.push(`/workspace/${path}`);
    if (file.kind === 'voice') voiceNotes.push({ path: `/workspace/${path}`, seconds: seen.seconds });
  }
  return { files, missingFiles, pictures, voiceNotes };
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

/** Returns the file, or why it could not be put there. */
async function put(
  { files, guestFiles }: InboxDeps,
  file: WaitingFile,
  { path, guest, budget, signal }: Place,
): Promise<Seen | string> {
  if (file.key === null) return file.reason ?? 'it could not be had';
  if (budget.count === 0) return 'too many files at once';
  budget.count -= 1;
  const passing = budget.pictures.file();
  try {
    await guestFiles.write(guest, path, within(files.read(file.key), budget, passing), signal);
    return passing.end();
  } catch (error) {
    passing.drop();
    signal.throwIfAborted();
    if (error instanceof TooManyBytes) return fileTroubles.too_large;
    return error instanceof GuestFileFailure ? fileTroubles[error.trouble] : 'it is not there any more';
  }
}

class TooManyBytes extends Error {}

async function* within(
  bytes: AsyncIterable<Uint8Array>,
  budget: Budget,
  passing: PassingFile,
): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.length;
    budget.bytes -= chunk.length;
    if (length > fileBounds.bytes || budget.bytes < 0) throw new TooManyBytes();
    passing.look(chunk);
    yield chunk;
  }
}
