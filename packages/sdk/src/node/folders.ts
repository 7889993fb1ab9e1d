/**
 * Whole folders, both ways: several files at once, as streams. Names from the server are checked, and nothing is written
 * through a link, so a download stays in its folder. Links are not transferred.
 */
import { lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LodgeError } from '../errors.ts';
import type { Lodge } from '../lodge.ts';
import { downloadFile } from './download.ts';
import type { FolderOptions, FolderResult, TransferOptions } from './options.ts';
import { inParallel, Tally } from './parallel.ts';
import type { Planned } from './parallel.ts';
import { uploadFile } from './upload.ts';

const maxDepth = 100;
const maxEntries = 1_000_000;

/** Writes what is in a local folder into a folder of an agent's workspace. Other files there stay. */
export async function uploadFolder(
  lodge: Lodge,
  agentId: string,
  local: string,
  remote: string,
  options: FolderOptions = {},
): Promise<FolderResult> {
  const tally = new Tally(options.onProgress);
  const { files, folders, skipped } = await localTree(local, options);
  tally.plan(files);
  const call = callOf(options);
  for (const folder of folders) {
    const isEmpty = !files.some(({ path }) => path.startsWith(`${folder}/`));
    if (isEmpty) await lodge.files.makeFolder(agentId, joined(remote, folder), call);
  }
  await inParallel(files, options, async ({ path }, signal) => {
    const onProgress = tally.file(path);
    await uploadFile(lodge, agentId, join(local, path), joined(remote, path), { ...call, signal, onProgress });
    tally.done(path);
  });
  return { ...tally.result, skipped };
}

/** Reads a folder of an agent's workspace into a local one, which is made. Other files there stay. */
export async function downloadFolder(
  lodge: Lodge,
  agentId: string,
  remote: string,
  local: string,
  options: FolderOptions = {},
): Promise<FolderResult> {
  const tally = new Tally(options.onProgress);
  const call = callOf(options);
  const skipped: string[] = [];
  await mkdir(local, { recursive: true });
  const planned = remoteFiles(lodge, agentId, remote, { local, options, skipped });
  await inParallel(tally.planned(planned), options, async ({ path }, signal) => {
    const onProgress = tally.file(path);
    await downloadFile(lodge, agentId, joined(remote, path), join(local, path), { ...call, signal, onProgress });
    tally.done(path);
  });
  return { ...tally.result, skipped };
}

interface Target {
  readonly local: string;
  readonly options: FolderOptions;
  readonly skipped: string[];
}

/** The files below a folder of the workspace, each after its local folder was made. */
async function* remoteFiles(
  lodge: Lodge,
  agentId: string,
  remote: string,
  { local, options, skipped }: Target,
): AsyncGenerator<Planned, void> {
  const folders = [''];
  let entries = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const list = lodge.files.list(agentId, { path: joined(remote, folder), limit: 1000 }, callOf(options));
    for await (const { name, type, size } of list) {
      const path = folder === '' ? checkedName(name) : `${folder}/${checkedName(name)}`;
      entries += 1;
      if (entries > maxEntries || path.split('/').length > maxDepth) {
        throw new LodgeError('The folder has too much in it, or is too deep.');
      }
      if (options.ignore?.(path, type === 'directory')) continue;
      if (type === 'directory') {
        await makeOwnFolder(join(local, path));
        folders.push(path);
      } else if (type === 'file') yield { path, size };
      else skipped.push(path);
    }
  }
}

/** A name that is one segment of a local path, whatever the server says. */
function checkedName(name: string): string {
  const isWindows = process.platform === 'win32';
  // oxlint-disable-next-line no-control-regex -- NUL ends a path for the system
  const isBad = /^\.{0,2}$|[/\u0000]/.test(name) || (isWindows && /[\\:*?"<>|]|[. ]$/.test(name));
  if (typeof name !== 'string' || isBad || name.length > 1024) {
    throw new LodgeError(`The server names a file ${JSON.stringify(name).slice(0, 200)}, which cannot be one.`);
  }
  return name;
}

/** Makes a folder, or takes the one that is there, but no link to one. */
async function makeOwnFolder(path: string): Promise<void> {
  await mkdir(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST' || !(await lstat(path)).isDirectory()) {
      throw new LodgeError(`${path} is there and is no folder.`, { cause: error });
    }
  });
}

async function localTree(local: string, { ignore }: FolderOptions) {
  const [files, folders, skipped]: [Planned[], string[], string[]] = [[], [], []];
  const left = [''];
  for (let folder = left.pop(); folder !== undefined; folder = left.pop()) {
    for (const entry of await readdir(join(local, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (ignore?.(path, entry.isDirectory())) continue;
      if (entry.isDirectory()) {
        folders.push(path);
        left.push(path);
      } else if (entry.isFile()) files.push({ path, size: (await lstat(join(local, path))).size });
      else skipped.push(path);
    }
  }
  return { files, folders, skipped };
}

function callOf({ signal, timeoutMs, maxRetries, headers, wake }: FolderOptions): TransferOptions {
  return { signal, timeoutMs, maxRetries, headers, ...(wake !== undefined && { wake }) };
}

const joined = (...parts: readonly string[]): string =>
  parts
    .map((part) => part.replace(/^\//, '').replace(/\/$/, ''))
    .filter((part) => part !== '')
    .join('/');
