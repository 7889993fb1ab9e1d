/**
 * Files of the guest, for the host. The daemon is root and writes into folders that belong to the agent, who may be swapping
 * them for symbolic links meanwhile. So a path is walked one folder at a time from open handles (`/proc/self/fd/<n>/<name>` is
 * openat(2) for programs without it), no link is followed, and the new file appears by a rename within the last folder.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { maxFileBytes } from '@lodge/guest';
import { chunksOf } from './chunks.ts';
import { Refusal, systemCode } from './errors.ts';
import { fileRefusal } from './file-refusal.ts';
import { within } from './handles.ts';
import type { Settings } from './settings.ts';

const longestPath = 4096;
const folderMode = 0o755;
const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export async function writeGuestFile(settings: Settings, query: URLSearchParams, body: IncomingMessage): Promise<void> {
  const { folders, name } = parsePath(query.get('path'));
  const mode = parseMode(query.get('mode'));
  const owner = ownerOf(settings, query.get('owner'));
  if (name === undefined) throw new Refusal(400, 'path must name a file');
  if (Number(body.headers['content-length']) > maxFileBytes) throw tooLarge();
  try {
    await using folder = await openFolder(folders, owner);
    await writeInFolder(folder, name, { mode, owner }, chunksOf(body));
  } catch (error) {
    throw fileRefusal(error);
  }
}

/** The file as a stream. Links are followed: reading tells the host what it could see anyway. */
export async function readGuestFile(query: URLSearchParams): Promise<Readable> {
  const path = query.get('path');
  parsePath(path);
  let file: FileHandle;
  try {
    // Without O_NONBLOCK a named pipe would hold the call, and a thread, until somebody writes to it.
    file = await open(path ?? '', O_RDONLY | O_NONBLOCK);
  } catch (error) {
    throw fileRefusal(error);
  }
  const stat = await file.stat();
  if (stat.isFile() && stat.size <= maxFileBytes) return file.createReadStream({ end: maxFileBytes - 1 });
  await file.close();
  throw stat.isFile() ? tooLarge() : new Refusal(409, 'path is not a regular file');
}

function parsePath(path: string | null): { readonly folders: readonly string[]; readonly name: string | undefined } {
  const parts = path?.split('/').filter((part) => part !== '') ?? [];
  const fit = path !== null && path.startsWith('/') && path.length <= longestPath && !path.includes('\0');
  if (!fit || parts.includes('..') || parts.includes('.')) {
    throw new Refusal(400, `path must be absolute, without . and .. and at most ${longestPath} characters`);
  }
  return { folders: parts.slice(0, -1), name: path.endsWith('/') ? undefined : parts.at(-1) };
}

function parseMode(text: string | null): number {
  if (text === null || !/^0?[0-7]{3}$/.test(text)) throw new Refusal(400, 'mode must be three octal digits');
  return Number.parseInt(text, 8);
}

function ownerOf(settings: Settings, name: string | null): Owner {
  if (name === 'agent') return settings.agent;
  if (name === 'root') return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  throw new Refusal(400, 'owner must be one of: agent, root');
}

async function openFolder(names: readonly string[], owner: Owner): Promise<FileHandle> {
  let folder = await open('/', O_RDONLY | O_DIRECTORY);
  for (const name of names) {
    try {
      const next = await openOrMake(folder, name, owner);
      await folder.close();
      folder = next;
    } catch (error) {
      await folder.close();
      throw error;
    }
  }
  return folder;
}

async function openOrMake(parent: FileHandle, name: string, owner: Owner): Promise<FileHandle> {
  const path = within(parent, name);
  const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
  try {
    return await open(path, flags);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
  await mkdir(path, folderMode);
  const made = await open(path, flags);
  await made.chown(owner.uid, owner.gid);
  return made;
}

async function writeInFolder(
  folder: FileHandle,
  name: string,
  file: { readonly mode: number; readonly owner: Owner },
  body: AsyncIterable<Buffer>,
): Promise<void> {
  const temporary = within(folder, `.lodge-${randomBytes(8).toString('hex')}`);
  try {
    await using handle = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    let length = 0;
    for await (const chunk of body) {
      length += chunk.length;
      if (length > maxFileBytes) throw tooLarge();
      await handle.appendFile(chunk);
    }
    await handle.chown(file.owner.uid, file.owner.gid);
    await handle.chmod(file.mode);
    await handle.sync();
    await rename(temporary, within(folder, name));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await folder.sync();
}

const tooLarge = (): Refusal => new Refusal(413, `a file may have at most ${maxFileBytes} bytes`);
