import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ConnectionError } from '../errors.ts';
import type { FileContent } from '../http/content.ts';
import type { Lodge } from '../lodge.ts';
import type { TransferOptions } from './options.ts';

/** A smaller part is not worth keeping for the next try. */
const minKeptBytes = 1024 * 1024;

/**
 * Reads a file of an agent's workspace into a local one, which is there whole or not at all. After a cut it goes on where it
 * was. A large part of a file stays beside it when this fails, and the next call goes on from there.
 */
export async function downloadFile(
  lodge: Lodge,
  agentId: string,
  remote: string,
  local: string,
  { onProgress, ...options }: TransferOptions = {},
): Promise<{ readonly size: number; readonly etag: string }> {
  const content = await lodge.files.read(agentId, remote, options);
  const part = join(dirname(local), `.${basename(local).slice(0, 100)}.${nameOf(content)}.part`);
  const file = await openPart(part).catch((error: unknown) => {
    content.cancel();
    throw error;
  });
  let done = 0;
  let isWhole = false;
  try {
    const opened = await continued(lodge, content, { agentId, remote, options, file });
    done = opened.from;
    for await (const chunk of opened.content) {
      await file.write(chunk, 0, chunk.length, done);
      done += chunk.length;
      onProgress?.(done, content.size);
    }
    if (Number.isFinite(content.size) && done !== content.size) {
      throw new ConnectionError(`The file has ${done} bytes instead of ${content.size}.`);
    }
    await file.truncate(done);
    isWhole = true;
  } finally {
    await file.close();
    if (!isWhole && done < minKeptBytes) await rm(part, { force: true });
  }
  await rename(part, local);
  return { size: done, etag: content.etag };
}

interface Wanted {
  readonly agentId: string;
  readonly remote: string;
  readonly options: TransferOptions;
  readonly file: FileHandle;
}

/** The content from the end of the part that is there already. */
async function continued(
  lodge: Lodge,
  content: FileContent,
  { agentId, remote, options, file }: Wanted,
): Promise<{ readonly content: FileContent; readonly from: number }> {
  const { size: present } = await file.stat();
  // A part that is whole was cut off before it was renamed: the last byte is read again.
  const from = Math.min(present, content.size - 1);
  if (!(from >= minKeptBytes) || content.etag === '') return { content, from: 0 };
  content.cancel();
  return { content: await lodge.files.read(agentId, remote, { ...options, from, ifMatch: content.etag }), from };
}

/** Parts of another version of the file have another name. */
const nameOf = ({ etag, size }: FileContent): string =>
  createHash('sha256').update(`${etag}\n${size}`).digest('hex').slice(0, 12);

/** Never a link, which could lead elsewhere. */
const openPart = (part: string): Promise<FileHandle> =>
  open(part, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o666);
