/** Gives a file that nobody changes any more another name, or copies it where that is not possible. */
import { execFile } from 'node:child_process';
import { chmod, chown, link } from 'node:fs/promises';
import { promisify } from 'node:util';
import { syncFile } from './files.ts';
import { environment } from './process.ts';

const run = promisify(execFile);
/** Time for gigabytes from a slow disk. */
const copyTimeoutMs = 30 * 60_000;

/** Resolves with false if the file system cannot link that file in that folder. `to` must not exist yet. */
export async function linkFile(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (noLinkHere.has((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

/** Errors for another file system (a bind mount is one), one without links, or too many links. */
const noLinkHere = new Set(['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** Makes a copy for writing, with owner and mode of the writer. It shares the bytes if the file system can. */
export async function copyToWrite(from: string, to: string, uid: number): Promise<void> {
  await copy(from, to);
  await chown(to, uid, uid);
  await chmod(to, 0o600);
}

/** Makes a copy with owner, mode and times, on the disk when it resolves. It shares the bytes if the file system can. */
export async function copyFile(from: string, to: string): Promise<void> {
  await copy(from, to, '--preserve=mode,ownership,timestamps');
  await syncFile(to);
}

async function copy(from: string, to: string, ...more: readonly string[]): Promise<void> {
  const words = ['--reflink=auto', '--sparse=always', ...more, '--', from, to];
  await run('cp', words, { timeout: copyTimeoutMs, env: environment }).catch((error: Error) => {
    const isFull = error.message.includes('No space left on device');
    throw isFull ? Object.assign(error, { code: 'ENOSPC' }) : error;
  });
}
