/** Folders of the guest as a tar, to be moved into another guest with owners, modes and links. What packs and unpacks is tar(1). */
import { randomBytes } from 'node:crypto';
import { lstat, mkdir, rename, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { dirname } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Refusal, systemCode } from './errors.ts';
import { ended, killGroup, start } from './processes.ts';
import type { Command } from './processes.ts';
import type { Settings } from './settings.ts';

const mostFolders = 20;
const keep = ['--numeric-owner', '--xattrs', '--acls'];

/** Of GNU tar: a file was changed or removed while it was read. What was read is a whole archive. */
const someDiffer = 1;

export async function packTree({ root, ...settings }: Settings, query: URLSearchParams): Promise<Readable> {
  const folders = foldersOf(query);
  for (const folder of folders) await checkFolder(`${root}/${folder}`, folder);
  const argv = ['tar', '-c', ...keep, '--sparse', '--one-file-system', '-C', `${root}/`, '--', ...folders];
  // A snapshot's folders are packed while everything of the agent's is frozen.
  const command: Command = { argv, user: 'root', stdio: ['ignore', 'pipe', 'ignore'], isOwn: true };
  const child = start({ root, ...settings }, command);
  const archive = new PassThrough();
  // A reader who goes away ends tar by its pipe. Of an archive that is not whole the end is never sent.
  const piped = pipeline(child.stdout!, archive, { end: false });
  Promise.all([ended(child, 'tar'), piped]).then(
    ([{ exitCode, signal }]) => {
      if (exitCode === 0 || exitCode === someDiffer) archive.end();
      else archive.destroy(new Error(`tar ended with ${exitCode ?? signal}`));
    },
    (error: Error) => archive.destroy(error),
  );
  archive.on('error', () => undefined);
  archive.on('close', () => child.pid !== undefined && killGroup(child.pid));
  return archive;
}

/**
 * Unpacks beside the folders and puts each in its place by a rename once all of it is there. May be repeated: a kill between two
 * renames leaves a folder old, new or, for that moment, out of its place.
 */
export async function unpackTree(settings: Settings, query: URLSearchParams, body: IncomingMessage): Promise<void> {
  const { root } = settings;
  const folders = foldersOf(query);
  const store = `${root}/var/lib/lodge/tree`;
  await rm(store, { recursive: true, force: true });
  const [fresh, stale] = [`${store}/new`, `${store}/old`];
  for (const folder of [fresh, stale]) await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    const argv = ['tar', '-x', '-p', '--same-owner', ...keep, '-C', fresh, '--', ...folders];
    const child = start(settings, { argv, user: 'root', stdio: ['pipe', 'ignore', 'ignore'] });
    const end = ended(child, 'tar');
    const written = pipeline(body, child.stdin!).catch(() => child.kill('SIGKILL'));
    const { exitCode } = await end;
    await written;
    if (exitCode !== 0)
      throw new Refusal(400, 'the body is not a whole tar of these folders, or there is no room for it');
    for (const folder of folders) await checkFolder(`${fresh}/${folder}`, folder);
    for (const folder of folders) await exchange(`${fresh}/${folder}`, `${root}/${folder}`, stale);
  } finally {
    await rm(store, { recursive: true, force: true });
  }
}

/** Absolute in the request, without the first slash for tar. One within another would be packed twice. */
function foldersOf(query: URLSearchParams): string[] {
  const paths = query.getAll('path');
  const fit = paths.every(
    (path) => /^(\/[^/\0]+)+$/.test(path) && !path.split('/').some((name) => /^\.\.?$/.test(name)),
  );
  const nested = paths.some((path) => paths.some((other) => other !== path && path.startsWith(`${other}/`)));
  if (!fit || nested || paths.length === 0 || paths.length > mostFolders || new Set(paths).size < paths.length) {
    throw new Refusal(400, `path must be 1 to ${mostFolders} absolute paths of folders, none within another`);
  }
  return paths.map((path) => path.slice(1));
}

async function checkFolder(path: string, name: string): Promise<void> {
  const isFolder = await lstat(path).then(
    (stat) => stat.isDirectory(),
    (error: unknown) => {
      if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return false;
      throw error;
    },
  );
  if (!isFolder) throw new Refusal(404, `there is no folder /${name}`);
}

async function exchange(fresh: string, place: string, stale: string): Promise<void> {
  await mkdir(dirname(place), { recursive: true });
  try {
    await rename(place, `${stale}/${randomBytes(8).toString('hex')}`);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
  await rename(fresh, place);
}
