/**
 * Ways through the agent's workspace. The daemon is root and the agent may be turning folders into symbolic links meanwhile, so a
 * path is walked one name at a time from open handles (`/proc/self/fd/<n>/<name>` is openat(2) for programs without it), and
 * links are read and followed here, never by the kernel: one that leads out of the workspace leads nowhere. `..` goes back to
 * the handle that was come from, not to where the kernel thinks the parent is by now.
 */
import { constants } from 'node:fs';
import { lstat, mkdir, open, readlink, type FileHandle } from 'node:fs/promises';
import { Refusal, systemCode } from '../errors.ts';
import { within } from '../handles.ts';
import type { Settings } from '../settings.ts';

const longestPathBytes = 4096;
const deepest = 100;
const mostLinks = 40;
const folderMode = 0o755;
const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
const folderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

export interface WalkOptions {
  /** A symbolic link at the path's end is followed too. */
  readonly follow: boolean;
  /** Folders that are missing on the way are made, as the agent's. */
  readonly make?: boolean;
}

/** An open folder of the workspace and a name in it, which need not exist. */
export class Place implements AsyncDisposable {
  readonly folder: FileHandle;
  /** `.` where the path leads to the folder itself. */
  readonly name: string;
  private readonly handles: readonly FileHandle[];

  constructor(handles: readonly FileHandle[], name: string) {
    this.handles = handles;
    this.folder = handles.at(-1)!;
    this.name = name;
  }

  get path(): string {
    return within(this.folder, this.name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeAll(this.handles);
  }
}

export const workspaceOf = ({ root }: Settings): string => `${root}/workspace`;

/** Names of a path within the workspace. Empty ones are none; `.` and `..` are refused rather than guessed at. */
export function namesOf(path: string | null): string[] {
  const names = path?.split('/').filter((name) => name !== '') ?? [];
  const fits = path !== null && Buffer.byteLength(path) <= longestPathBytes && !path.includes('\0');
  if (!fits || names.length > deepest || names.some((name) => name === '.' || name === '..')) {
    throw new Refusal(
      400,
      `path must have no . and .., no NUL, at most ${deepest} names and ${longestPathBytes} bytes`,
    );
  }
  return names;
}

export async function locate(settings: Settings, path: string | null, options: WalkOptions): Promise<Place> {
  const todo = namesOf(path);
  const handles = [await open(workspaceOf(settings), O_RDONLY | O_DIRECTORY)];
  try {
    const name = await walk(settings, handles, todo, options);
    return new Place(handles, name);
  } catch (error) {
    await closeAll(handles);
    throw error;
  }
}

/** Goes as far as the last name, which it gives. `handles` are the folders from the workspace down to where it stands. */
async function walk(settings: Settings, handles: FileHandle[], todo: string[], options: WalkOptions): Promise<string> {
  let links = 0;
  while (todo.length > 0) {
    const name = todo.shift()!;
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (handles.length === 1) throw leadsOut();
      await handles.pop()!.close();
      continue;
    }
    const isLast = todo.every((rest) => rest === '' || rest === '.');
    const target = isLast && !options.follow ? null : await linkAt(handles.at(-1)!, name);
    if (target !== null) {
      links += 1;
      if (links > mostLinks) throw new Refusal(409, 'there are too many symbolic links on the way');
      await turn(settings, handles, todo, target);
    } else if (isLast) return name;
    else await enter(settings, handles, name, options);
  }
  return '.';
}

async function linkAt(folder: FileHandle, name: string): Promise<string | null> {
  const path = within(folder, name);
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : null;
  } catch (error) {
    // Not there, or no link any more: whoever opens it finds out.
    if (['ENOENT', 'EINVAL'].includes(systemCode(error) ?? '')) return null;
    throw error;
  }
}

/** Goes on where a link points. */
async function turn(settings: Settings, handles: FileHandle[], todo: string[], target: string): Promise<void> {
  if (!target.startsWith('/')) {
    todo.unshift(...target.split('/'));
    return;
  }
  const base = workspaceOf(settings);
  if (target !== base && !target.startsWith(`${base}/`)) throw leadsOut();
  await closeAll(handles.splice(1));
  todo.unshift(...target.slice(base.length).split('/'));
}

async function enter(settings: Settings, handles: FileHandle[], name: string, options: WalkOptions): Promise<void> {
  if (handles.length > deepest) throw new Refusal(400, `path leads more than ${deepest} folders deep`);
  const path = within(handles.at(-1)!, name);
  try {
    handles.push(await open(path, folderFlags));
    return;
  } catch (error) {
    if (systemCode(error) !== 'ENOENT' || options.make !== true) throw error;
  }
  await makeFolder(settings, path);
  handles.push(await open(path, folderFlags));
}

/** A folder of the agent's. That somebody else has made it meanwhile is as good. */
export async function makeFolder({ agent }: Settings, path: string): Promise<boolean> {
  try {
    await mkdir(path, folderMode);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
  await using folder = await open(path, folderFlags);
  await folder.chown(agent.uid, agent.gid);
  return true;
}

const leadsOut = (): Refusal => new Refusal(409, 'a symbolic link on the way leads out of the workspace');

async function closeAll(handles: readonly FileHandle[]): Promise<void> {
  await Promise.all(handles.map((handle) => handle.close()));
}
