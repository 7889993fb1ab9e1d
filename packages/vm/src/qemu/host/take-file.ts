/** Another name, or where that cannot be a copy, of a file that nobody changes any more. */
import { execFile } from 'node:child_process';
import { chmod, chown, link } from 'node:fs/promises';
import { promisify } from 'node:util';
import { syncFile } from './files.ts';

const run = promisify(execFile);
/** Gigabytes, from a slow disk. */
const copyTimeoutMs = 30 * 60_000;

/** Resolves with false where the file system has no link of that file in that folder. `to` is not there yet. */
export async function linkFile(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (noLinkHere.has((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

/** Another file system (a bind mount is one), one without links, one with too many of them. */
const noLinkHere = new Set(['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** A copy that is to be written, with owner and mode of the writer. It shares the bytes where the file system can. */
export async function copyToWrite(from: string, to: string, uid: number): Promise<void> {
  await run('cp', ['--reflink=auto', '--sparse=always', '--', from, to], { timeout: copyTimeoutMs });
  await chown(to, uid, uid);
  await chmod(to, 0o600);
}

/** A copy with owner, mode and times, on the disk when it resolves. It shares the bytes where the file system can. */
export async function copyFile(from: string, to: string): Promise<void> {
  const keeps = '--preserve=mode,ownership,timestamps';
  await run('cp', ['--reflink=auto', '--sparse=always', keeps, '--', from, to], { timeout: copyTimeoutMs });
  await syncFile(to);
}
