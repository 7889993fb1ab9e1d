/**
 * Copies files and folders from the workspace of one guest into that of another of the same agent. Everything is found before
 * anything is written. Each file is there whole or not at all, by a rename; other files of a folder stay. A copy that was cut
 * short is repeated from the beginning, and comes to the same.
 */
import { randomBytes } from 'node:crypto';
import { Refusal } from '@lodge/domain';
import { maxFileBytes, maxListEntries } from '@lodge/guest';
import type { Entry, EntryList, ExecRequest, GuestClient } from '@lodge/guest';
import { ofGuest } from './guest-error.ts';

/** Entries that one request copies at most. */
export const maxCopiedFiles = 10_000;
const deepest = 100;
const atOnce = 4;
const execMs = 30_000;
const permissionBits = 0o777;
/** Bytes of paths and targets that one command takes. */
const maxArgumentBytes = 60_000;
const maxArguments = 400;

/** The entries to copy, each folder before those in it. */
interface Found {
  readonly folders: string[];
  readonly files: { readonly path: string; readonly entry: Entry }[];
  readonly links: { readonly path: string; readonly target: string }[];
}

interface Sides {
  readonly from: GuestClient;
  readonly to: GuestClient;
}

/** Refuses with `file_not_found`, `request_too_large` or `file_conflict` before anything is written. */
export async function copyPaths({ from, to }: Sides, paths: readonly string[], signal: AbortSignal): Promise<void> {
  const found = await find(from, paths, signal);
  for (const folder of found.folders) await ofGuest(to.workspace.makeFolder(folder, { signal }));
  await copyFiles({ from, to }, found, signal);
  await putLinks(to, found, signal);
}

/** Copies several at once. The first failure ends all. */
async function copyFiles(sides: Sides, { files }: Found, outer: AbortSignal): Promise<void> {
  const failed = new AbortController();
  const signal = AbortSignal.any([outer, failed.signal]);
  const waiting = files.values();
  const others: [string, string][] = [];
  const work = async (): Promise<void> => {
    for (const file of waiting) {
      const { mode } = await copyFile(sides, file, signal);
      const wanted = file.entry.mode & permissionBits;
      if (mode !== wanted) others.push([wanted.toString(8), file.path]);
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, work));
  } catch (error) {
    failed.abort(error);
    throw error;
  }
  // New files may not be run, and those that were there keep the permissions that they have now.
  await each(sides.to, 'chmod -- "$1" "./$2"', others, outer);
}

async function find(from: GuestClient, paths: readonly string[], signal: AbortSignal): Promise<Found> {
  const found: Found = { folders: [], files: [], links: [] };
  for (const path of paths) {
    const entry = await ofGuest(from.workspace.entry(path, { signal })).catch((error: unknown) => {
      if (!(error instanceof Refusal) || error.code !== 'file_not_found') throw error;
      throw new Refusal('file_not_found', `The snapshot has nothing at ${quoted(path)}; nothing was written.`);
    });
    if (entry.type === 'file') found.files.push({ path, entry });
    else if (entry.type === 'directory') await findBelow(from, path, found, signal);
    else throw new Refusal('file_conflict', `The entry at ${quoted(path)} is no file and no folder.`);
  }
  return found;
}

async function findBelow(from: GuestClient, top: string, found: Found, signal: AbortSignal): Promise<void> {
  const folders = [top];
  // Folders that are found are added to those that are asked for.
  for (const folder of folders) {
    found.folders.push(folder);
    for (let after: string | null = ''; after !== null;) {
      const page: EntryList = await ofGuest(from.workspace.list(folder, { after, limit: maxListEntries }, { signal }));
      for (const { name, target, ...entry } of page.entries) {
        const path = `${folder}/${name}`;
        if (entry.type === 'directory') folders.push(path);
        else if (entry.type === 'file') found.files.push({ path, entry });
        else if (entry.type === 'symlink' && target !== null) found.links.push({ path, target });
        if (folders.length + found.files.length + found.links.length > maxCopiedFiles) throw tooMany();
        if (path.split('/').length > deepest) throw tooDeep(path);
      }
      const last = page.entries.at(-1)?.name;
      // A hostile daemon may send the same page for ever.
      after = page.more && last !== undefined && last > after ? last : null;
    }
  }
}

async function copyFile(
  { from, to }: Sides,
  { path, entry }: Found['files'][number],
  signal: AbortSignal,
): Promise<Entry> {
  if (entry.size <= maxFileBytes) {
    const { stream } = await ofGuest(from.workspace.read(path, null, { signal }));
    return (await ofGuest(to.workspace.write(path, stream, {}, { signal }))).entry;
  }
  const id = randomBytes(16).toString('hex');
  try {
    for (let at = 0; at < entry.size;) {
      const part = { from: at, to: Math.min(entry.size, at + maxFileBytes) - 1 };
      const { stream } = await ofGuest(from.workspace.read(path, part, { signal }));
      const { size } = await ofGuest(to.uploads.append(id, at, stream, { signal }));
      if (size <= at) throw new Refusal('agent_unavailable', 'The agent does not take the file. Try again shortly.');
      at = size;
    }
    return (await ofGuest(to.uploads.finish(id, { path, size: entry.size }, { signal }))).entry;
  } catch (error) {
    await to.uploads.remove(id).catch(() => undefined);
    throw error;
  }
}

async function putLinks(to: GuestClient, { links }: Found, signal: AbortSignal): Promise<void> {
  const pairs = links.map(({ path, target }) => [target, path] as const);
  await each(to, 'ln -sfnT -- "$1" "./$2"', pairs, signal);
}

/** Runs a command with each pair as the agent in its workspace. One that fails is passed over, as its agent may be at work. */
async function each(
  to: GuestClient,
  command: string,
  pairs: readonly (readonly [string, string])[],
  signal: AbortSignal,
): Promise<void> {
  const script = `while [ $# -gt 1 ]; do ${command}; shift 2; done`;
  for (let at = 0; at < pairs.length;) {
    const given: string[] = [];
    for (let size = 0; at < pairs.length && given.length < maxArguments && size < maxArgumentBytes; at += 1) {
      const pair = pairs[at]!;
      given.push(...pair);
      size += Buffer.byteLength(pair[0]) + Buffer.byteLength(pair[1]);
    }
    const request: ExecRequest = { argv: ['sh', '-c', script, 'sh', ...given], timeoutMs: execMs * to.pace };
    await ofGuest(to.exec(request, { signal }));
  }
}

const quoted = (path: string): string => JSON.stringify(path.slice(0, 200));

const tooMany = (): Refusal =>
  new Refusal('request_too_large', `One request copies at most ${maxCopiedFiles} files; nothing was written.`);

const tooDeep = (path: string): Refusal =>
  new Refusal('request_too_large', `${quoted(path)} is below more than ${deepest} folders; nothing was written.`);
