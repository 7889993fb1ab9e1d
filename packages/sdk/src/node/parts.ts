/** Sends a large local file in parts. It goes on where it was after a cut, after a restart of the service, and in the next call. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { ApiError, LodgeError } from '../errors.ts';
import { backoff, isPassing, pause } from '../http/retry.ts';
import type { Lodge } from '../lodge.ts';
import type { IfMatch } from '../options.ts';
import type { AgentFile } from '../types.ts';
import type { TransferOptions } from './options.ts';

/** Larger files come in parts: the most that one request may have. */
export const maxWholeBytes: number = 64 * 1024 * 1024;
const partBytes = 32 * 1024 * 1024;
/** Failures one after another until it is given up: a restart of the service takes some of them. */
const maxFailures = 12;

export type PartOptions = TransferOptions & IfMatch & { readonly isNew?: boolean | undefined };

export async function uploadInParts(
  lodge: Lodge,
  agentId: string,
  local: string,
  remote: string,
  { onProgress, wake, ...options }: PartOptions,
): Promise<AgentFile> {
  const { ifMatch, isNew, ...call } = options;
  // Waking is a matter of the requests for files.
  if (wake === true) await lodge.files.list(agentId, { limit: 1, wake }, call);
  await using file = await open(local);
  const { size, mtimeMs, ino } = await file.stat();
  const id = createHash('sha256').update([agentId, remote, size, mtimeMs, ino].join('\n')).digest('hex').slice(0, 40);
  const work: Work = { lodge, agentId, id, file, size, call, onProgress };
  const finish = { ...call, ifMatch, isNew, maxRetries: call.maxRetries ?? maxFailures };
  for (let times = 1; ; times += 1) {
    await sendParts(work);
    try {
      return await lodge.uploads.finish(agentId, id, { path: remote, size }, finish);
    } catch (error) {
      // After a restart nobody knows whether the file was finished: the upload is gone either way.
      if (!isElsewhere(error) || times > 1) throw error;
    }
  }
}

interface Work {
  readonly lodge: Lodge;
  readonly agentId: string;
  readonly id: string;
  readonly file: FileHandle;
  readonly size: number;
  readonly call: Omit<TransferOptions, 'onProgress' | 'wake'>;
  readonly onProgress: TransferOptions['onProgress'];
}

async function sendParts({ lodge, agentId, id, file, size, call, onProgress }: Work): Promise<void> {
  let { offset } = await lodge.uploads.get(agentId, id, call);
  let isKnown = true;
  for (let failures = 0; offset < size;) {
    onProgress?.(offset, size);
    const before = offset;
    try {
      if (isKnown) {
        const part = await read(file, offset, Math.min(partBytes, size - offset));
        const told = (done: number): void => onProgress?.(before + done, size);
        ({ offset } = await lodge.uploads.append(agentId, id, offset, part, { ...call, onProgress: told }));
      } else ({ offset } = await lodge.uploads.get(agentId, id, call));
      isKnown = true;
      if (offset > before) failures = 0;
    } catch (error) {
      isKnown = false;
      failures += 1;
      if (!(isPassing(error) || isElsewhere(error)) || failures > maxFailures) throw error;
      await pause(backoff(failures, 250, 5_000), call.signal);
    }
  }
  onProgress?.(size, size);
}

/** A part that was taken up whose reply was lost is a conflict when it comes again. */
const isElsewhere = (error: unknown): boolean => error instanceof ApiError && error.code === 'file_conflict';

async function read(file: FileHandle, from: number, length: number): Promise<Uint8Array> {
  const part = new Uint8Array(length);
  for (let done = 0; done < length;) {
    const { bytesRead } = await file.read(part, done, length - done, from + done);
    if (bytesRead === 0) throw new LodgeError('The file became shorter while it was sent.');
    done += bytesRead;
  }
  return part;
}
