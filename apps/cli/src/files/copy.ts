/** Copies files between this machine and a workspace, by the SDK's transfers: whole or not at all. */
import type { Lodge } from '@lodge/sdk';
import { downloadFile, downloadFolder, uploadFile, uploadFolder } from '@lodge/sdk/node';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError, exitCodes, usageError } from '../failure.ts';
import type { Run } from '../run.ts';
import { withProgress } from '../terminal/progress.ts';
import type { Progress } from '../terminal/progress.ts';
import { readStdinBytes } from '../terminal/prompt.ts';
import { quoted, safeLine } from '../terminal/safe.ts';
import { bytes } from '../terminal/words.ts';
import { joined, nameOf } from './place.ts';

export interface Copy {
  readonly lodge: Lodge;
  readonly agentId: string;
  readonly isRecursive: boolean;
  readonly isWoken: boolean;
}

/** The result of a copy, as it is printed with `--json`. */
export interface Copied {
  readonly object: 'copy';
  readonly from: string;
  readonly to: string;
  readonly files: number;
  readonly bytes: number;
  readonly skipped: readonly string[];
}

export async function upload(run: Run, copy: Copy, local: string, remote: string): Promise<Copied> {
  const { lodge, agentId, isRecursive } = copy;
  if (local === '-') return fromStdin(run, copy, remote);
  const found = await stat(local).catch((error: NodeJS.ErrnoException) => {
    const isMissing = error.code === 'ENOENT';
    throw usageError(
      isMissing ? `There is no ${quoted(local)} here.` : `${quoted(local)} cannot be read: ${error.code}.`,
    );
  });
  const isFolder = await isRemoteFolder(run, copy, remote);
  const target = isFolder ? joined(remote, nameOf(local)) : remote;
  if (found.isDirectory()) {
    if (!isRecursive) throw usageError(`${quoted(local)} is a folder.`, 'Copy folders with -r.');
    // Without a name a folder is copied into the workspace, and `folder/.` means what is in it.
    const into = /(^|\/)\.?$/.test(local) ? remote : target;
    const result = await withProgress(run.out, `Copying ${safeLine(local, 60)}`, (progress) =>
      uploadFolder(lodge, agentId, local, into, { ...call(run, copy), onProgress: tell(progress) }),
    );
    return { object: 'copy', from: local, to: into, ...result };
  }
  if (target === '') throw usageError('The file needs a name in the workspace.', 'lodge cp FILE AGENT:NAME');
  const file = await withProgress(run.out, `Copying ${safeLine(local, 60)}`, (progress) =>
    uploadFile(lodge, agentId, local, target, { ...call(run, copy), onProgress: tellBytes(progress, local) }),
  );
  return { object: 'copy', from: local, to: file.path, files: 1, bytes: file.size, skipped: [] };
}

export async function download(run: Run, copy: Copy, remote: string, local: string): Promise<Copied> {
  const { lodge, agentId, isRecursive } = copy;
  if (local === '-') return toStdout(run, copy, remote);
  const isFolder = await isRemoteFolder(run, copy, remote);
  const isInto = await stat(local).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const name = nameOf(remote);
  if (isFolder && !isRecursive) throw usageError('That is a folder.', 'Copy folders with -r.');
  if (!isFolder && name === '') throw usageError('A file needs a name: AGENT:PATH.');
  const target = isInto && name !== '' ? join(local, name) : local;
  if (isFolder) {
    const result = await withProgress(run.out, `Copying ${safeLine(remote || 'the workspace', 60)}`, (progress) =>
      downloadFolder(lodge, agentId, remote, target, { ...call(run, copy), onProgress: tell(progress) }),
    );
    return { object: 'copy', from: remote, to: target, ...result };
  }
  const { size } = await withProgress(run.out, `Copying ${safeLine(remote, 60)}`, (progress) =>
    downloadFile(lodge, agentId, remote, target, { ...call(run, copy), onProgress: tellBytes(progress, remote) }),
  );
  return { object: 'copy', from: remote, to: target, files: 1, bytes: size, skipped: [] };
}

/** A stream that comes once has no second try, so it is written as one request of a known size. */
async function fromStdin(run: Run, { lodge, agentId, isWoken }: Copy, remote: string): Promise<Copied> {
  if (remote === '') throw usageError('The file needs a name in the workspace.');
  const tooLong = `stdin has more than ${bytes(maxPipedBytes)}. Copy a file instead.`;
  const content = await readStdinBytes(run.signal, maxPipedBytes, tooLong);
  const options = { ...run.call, ...(isWoken && { wake: true }) };
  const file = await lodge.files.write(agentId, remote, new Uint8Array(content), options);
  return { object: 'copy', from: '-', to: file.path, files: 1, bytes: file.size, skipped: [] };
}

const maxPipedBytes = 64 * 1024 * 1024;

async function toStdout(run: Run, { lodge, agentId, isWoken }: Copy, remote: string): Promise<Copied> {
  const content = await lodge.files.read(agentId, remote, { ...run.call, ...(isWoken && { wake: true }) });
  let size = 0;
  for await (const chunk of content) {
    size += chunk.length;
    if (!process.stdout.write(chunk)) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
  return { object: 'copy', from: remote, to: '-', files: 1, bytes: size, skipped: [] };
}

async function isRemoteFolder(run: Run, { lodge, agentId, isWoken }: Copy, remote: string): Promise<boolean> {
  if (remote === '') return true;
  try {
    await lodge.files.list(agentId, { path: remote, limit: 1, ...(isWoken && { wake: true }) }, run.call);
    return true;
  } catch (error) {
    const { status, code } = error as { readonly status?: unknown; readonly code?: unknown };
    if (status === 404 && code === 'agent_not_found') throw error;
    // A file cannot be listed, and what is not there is no folder.
    if (status === 404 || (status === 409 && code === 'file_conflict') || status === 400) return false;
    throw error;
  }
}

const call = (run: Run, { isWoken }: Copy) => ({ ...run.call, ...(isWoken && { wake: true }) });

const tellBytes =
  (progress: Progress, name: string) =>
  (done: number, all?: number): void => {
    const whole = all === undefined || !Number.isFinite(all) ? '' : ` of ${bytes(all)}`;
    progress.say(`Copying ${safeLine(name, 60)}: ${bytes(done)}${whole}`);
  };

const tell =
  (progress: Progress) =>
  ({ path, bytes: done, files, allFiles }: { path: string; bytes: number; files: number; allFiles: number }): void => {
    progress.say(`${files} of ${allFiles} files, ${bytes(done)}: ${safeLine(path, 60)}`);
  };

/** `meant`: the agent, as the person named it, whose place one of both is. */
export function told({ from, to, files, bytes: size, skipped }: Copied, meant: string, isUpload: boolean): string {
  const links = skipped.length === 0 ? '' : ` Left out ${skipped.length} that are no files, such as links.`;
  const what = files === 1 ? bytes(size) : `${files} files, ${bytes(size)}`;
  const inside = (path: string, isInside: boolean): string => safeLine(isInside ? `${meant}:${path}` : path, 200);
  return `Copied ${inside(from, !isUpload)} to ${inside(to, isUpload)}: ${what}.${links}\n`;
}

export const sameSide = (): CommandError =>
  new CommandError(exitCodes.usage, 'One of both must be AGENT:PATH, and the other a local path.');
