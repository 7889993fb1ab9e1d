/**
 * Changes in the workspace. A new file is written where the agent cannot reach it and appears by a rename, whole; what a daemon
 * that was killed left there, the next one removes. What checks a version and what changes it come one at a time.
 */
import { randomBytes } from 'node:crypto';
import { constants, mkdirSync, rmSync } from 'node:fs';
import { link, lstat, open, rename, rm, rmdir, unlink, type FileHandle } from 'node:fs/promises';
import { maxFileBytes, type Entry, type WriteResult } from '@lodge/guest';
import { Refusal, systemCode } from '../errors.ts';
import { ended, killGroup, start } from '../processes.ts';
import type { Settings } from '../settings.ts';
import { checkMatch, entryOf } from './entry.ts';
import { locate, makeFolder, type Place } from './walk.ts';

const { O_CREAT, O_EXCL, O_WRONLY } = constants;
const newFileMode = 0o644;
const permissionBits = 0o777;
const removeWithinMs = 60_000;

interface Conditions {
  /** See `checkMatch`. */
  readonly match: string | null;
  /** Nothing may be there. */
  readonly absent: boolean;
}

/** A whole file, open, where the agent cannot reach it. */
interface Made {
  readonly file: FileHandle;
  readonly temporary: string;
}

const conditionsOf = (query: URLSearchParams): Conditions => ({
  match: query.get('match'),
  absent: query.get('absent') === 'true',
});

export class WorkspaceWriter {
  private readonly settings: Settings;
  private readonly incoming: string;
  private turn: Promise<unknown> = Promise.resolve();

  constructor(settings: Settings) {
    this.settings = settings;
    this.incoming = `${settings.root}/var/lib/lodge/incoming`;
    rmSync(this.incoming, { recursive: true, force: true });
    mkdirSync(this.incoming, { recursive: true, mode: 0o700 });
  }

  async write(query: URLSearchParams, body: AsyncIterable<Buffer>): Promise<WriteResult> {
    // What cannot be put there is refused before its bytes are taken.
    await using place = await locate(this.settings, query.get('path'), { follow: true, make: true });
    checkConditions(conditionsOf(query), await entryAt(place));
    const temporary = `${this.incoming}/${randomBytes(8).toString('hex')}`;
    try {
      await using file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0o600);
      await fill(file, body);
      return await this.putAt(place, { file, temporary }, conditionsOf(query));
    } finally {
      await rm(temporary, { force: true });
    }
  }

  /** Puts a whole file in the place that a query names, as the agent's. It stays where it is when that is refused. */
  async put(query: URLSearchParams, made: Made): Promise<WriteResult> {
    await using place = await locate(this.settings, query.get('path'), { follow: true, make: true });
    return await this.putAt(place, made, conditionsOf(query));
  }

  private async putAt(place: Place, made: Made, conditions: Conditions): Promise<WriteResult> {
    const before = await entryAt(place);
    checkConditions(conditions, before);
    const { agent } = this.settings;
    await made.file.chown(agent.uid, agent.gid);
    await made.file.chmod(before === null ? newFileMode : before.mode & permissionBits);
    await made.file.sync();
    return this.inTurn(() => put(place, made, conditions));
  }

  async makeFolder(query: URLSearchParams): Promise<WriteResult> {
    await using place = await locate(this.settings, query.get('path'), { follow: true, make: true });
    const created = place.name !== '.' && (await makeFolder(this.settings, place.path));
    const entry = await entryAt(place);
    if (entry?.type !== 'directory') throw new Refusal(409, 'something of another kind is at the path');
    return { created, entry };
  }

  async remove(query: URLSearchParams): Promise<void> {
    await using place = await locate(this.settings, query.get('path'), { follow: false });
    if (place.name === '.') throw new Refusal(409, 'the workspace itself stays');
    await this.inTurn(async () => {
      const entry = entryOf(await lstat(place.path, { bigint: true }));
      checkMatch(query.get('match'), entry);
      if (entry.type !== 'directory') await unlink(place.path);
      else if (query.get('recursive') === 'true') await this.removeAll(place);
      else await rmdir(place.path);
    });
    await place.folder.sync();
  }

  /** As the agent, so that it can remove nothing else, whatever it makes of the folder meanwhile: what rm(1) is made for. */
  private async removeAll(place: Place): Promise<void> {
    const argv = ['rm', '-rf', '--one-file-system', '--', `./${place.name}`];
    const cwd = `/proc/self/fd/${place.folder.fd}`;
    const child = start(this.settings, { argv, user: 'agent', cwd, stdio: 'ignore' });
    const timer = setTimeout(() => child.pid !== undefined && killGroup(child.pid), removeWithinMs);
    const { exitCode } = await ended(child, 'rm').finally(() => clearTimeout(timer));
    if (exitCode !== 0) throw new Refusal(409, 'not all of the folder could be removed');
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.turn.then(work);
    this.turn = result.catch(() => undefined);
    return result;
  }
}

async function put(place: Place, { file, temporary }: Made, conditions: Conditions): Promise<WriteResult> {
  const before = await entryAt(place);
  checkConditions(conditions, before);
  // A link, unlike a rename, replaces nothing that came in between.
  if (conditions.absent) {
    await link(temporary, place.path).catch(present);
    await rm(temporary);
  } else await rename(temporary, place.path);
  await place.folder.sync();
  // The version says when the inode changed: now, by its new name.
  return { created: before === null, entry: entryOf(await file.stat({ bigint: true })) };
}

function checkConditions({ match, absent }: Conditions, entry: Entry | null): void {
  checkMatch(match, entry);
  if (absent && entry !== null) throw anotherIsThere();
  if (entry !== null && entry.type !== 'file') throw new Refusal(409, 'path is not a regular file');
}

const anotherIsThere = (): Refusal => new Refusal(412, 'another version is there');

function present(error: unknown): never {
  throw systemCode(error) === 'EEXIST' ? anotherIsThere() : error;
}

async function fill(file: FileHandle, body: AsyncIterable<Buffer>): Promise<void> {
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxFileBytes) throw new Refusal(413, `a file may have at most ${maxFileBytes} bytes`);
    await file.appendFile(chunk);
  }
}

async function entryAt(place: Place): Promise<Entry | null> {
  try {
    return entryOf(await lstat(place.path, { bigint: true }));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}
