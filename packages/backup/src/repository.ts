/**
 * Backups of one or more Lodges in one place. All of it is sealed under a key that comes from the master key (`cipher.ts`).
 *
 *   <place>/<master key id>/chunks/<ab>/<name>   bytes that backups hold, once, by the HMAC of what they are
 *   <place>/<master key id>/backups/<name>       a backup's list: what it holds and of which chunks; its name is its time
 *
 * A list is written last, whole or not at all, when its chunks are kept: what was cut off has no list and is no backup. Chunks
 * that no list names are trusted by nobody: the next backup writes them anew, and removes the rest. Lists go before chunks.
 * After a change of the master key the next backup copies everything, and older ones need the older key.
 *
 * A place may list late: what was written is not shown yet, or what was removed is shown still. Where that is seen, no chunk
 * is removed, for a list that is not shown may need it. Only files with names of ours are ever removed.
 */
import { randomBytes } from 'node:crypto';
import { Cipher } from './cipher.ts';
import { BackupError, BackupMissingError } from './errors.ts';
import type { Place } from './places/place.ts';

/** Bytes of one chunk: a disk's changes touch few of them, and a disk of 1 GiB has 2,048. */
export const chunkBytes = 512 * 1024;
/** A list is JSON: about 45 bytes a chunk. */
const maxListBytes = 1024 * 2 ** 20;
const listName = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}-\d{3}Z-[0-9a-f]{6}$/;
const keyFolder = /^[0-9a-f]{8}$/;
const chunkName = /^[0-9a-f]{40}$/;
const chunkPath = /^[0-9a-f]{2}\/[0-9a-f]{40}$/;
/** What a write to a folder that was cut off leaves. */
const unfinishedChunk = /^[0-9a-f]{2}\/[\w-]{31,40}\.new-[0-9a-f]{12}$/;
const unfinishedList = /^[\w-]{31,40}\.new-[0-9a-f]{12}$/;
/** Compressed and sealed, bytes that do not compress are a little more. */
const maxSealedChunkBytes = chunkBytes + 16 * 1024;
/** Files that are removed beside one another. */
const removedAtOnce = 8;

export interface Written {
  chunks: number;
  bytes: number;
}

/** Opens the repository for backups under this master key. `create`: the place is made ready where it is not. */
export async function openRepository(
  place: Place,
  { masterKey, keyId, create }: { readonly masterKey: Buffer; readonly keyId: string; readonly create: boolean },
): Promise<Repository> {
  if (create) {
    await place.prepare(keyId);
  } else {
    const keys = (await place.folders()).filter((name) => keyFolder.test(name));
    if (keys.length === 0) throw new BackupError(`There is no backup in ${place.name}.`);
    if (!keys.includes(keyId)) {
      throw new BackupError(
        `The backups in ${place.name} were made under the master key ${keys.join(' or ')}, and the one given is ${keyId}. Give the key that belongs to them.`,
      );
    }
  }
  return new Repository(place, keyId, new Cipher(masterKey));
}

export class Repository {
  /** What this process has written: new chunks alone. */
  readonly written: Written = { chunks: 0, bytes: 0 };
  private readonly place: Place;
  private readonly keyId: string;
  private readonly cipher: Cipher;
  /** Chunks that a whole backup holds, or that this process has written. */
  private readonly trusted = new Set<string>();
  /** Backups that are there, shown or not. */
  private readonly known = new Set<string>();
  private readonly removed = new Set<string>();
  private late = false;

  constructor(place: Place, keyId: string, cipher: Cipher) {
    this.place = place;
    this.keyId = keyId;
    this.cipher = cipher;
  }

  private get lists(): string {
    return `${this.keyId}/backups`;
  }
  private get chunks(): string {
    return `${this.keyId}/chunks`;
  }
  private pathOf(chunk: string): string {
    return `${this.chunks}/${chunk.slice(0, 2)}/${chunk}`;
  }

  /** The place has shown other lists than there are. */
  get listsLate(): boolean {
    return this.late;
  }

  /** Tells of a backup that was made here earlier, which the place may not show yet. */
  async know(name: string): Promise<void> {
    if (listName.test(name) && (await this.place.has(`${this.lists}/${name}`))) this.known.add(name);
  }

  /** Names of the backups under this key, the oldest first. */
  async backups(): Promise<string[]> {
    const shown = new Set<string>();
    for await (const { path } of this.place.list(this.lists)) if (listName.test(path)) shown.add(path);
    for (const name of this.removed) if (shown.delete(name)) this.late = true;
    for (const name of this.known) {
      if (!shown.has(name)) this.late = true;
      shown.add(name);
    }
    return [...shown].toSorted();
  }

  /** One process at a time writes here. Resolves with what gives the lock back. */
  async lock(): Promise<() => void> {
    return this.place.lock();
  }

  /** Learns which chunks need not be written again: those of whole backups that are still there. */
  async trust(lists: readonly Iterable<string>[]): Promise<void> {
    const there = new Set<string>();
    for await (const { path, bytes } of this.place.list(this.chunks)) {
      const name = chunkOf(path);
      const canBe = bytes === null || (bytes > 0 && bytes <= maxSealedChunkBytes);
      if (name !== null && canBe) there.add(name);
    }
    for (const list of lists) for (const name of list) if (there.has(name)) this.trusted.add(name);
  }

  isTrusted(name: string): boolean {
    return this.trusted.has(name);
  }

  /** Gives the chunk's name. It is kept once `commit` resolves. */
  async put(bytes: Uint8Array): Promise<string> {
    const name = this.cipher.nameOf(bytes);
    if (this.trusted.has(name)) return name;
    const sealed = await this.cipher.seal(bytes, name);
    await this.place.write(this.pathOf(name), sealed, { durable: false });
    this.trusted.add(name);
    this.written.chunks += 1;
    this.written.bytes += sealed.length;
    return name;
  }

  /** Throws `BackupError` with the chunk's path when it is missing or a bit of it has changed. */
  async get(name: string): Promise<Buffer> {
    if (!chunkName.test(name)) throw new BackupError(`A backup in ${this.place.name} names a chunk that cannot be.`);
    const path = this.place.where(this.pathOf(name));
    const sealed = await this.place.read(this.pathOf(name), maxSealedChunkBytes);
    if (sealed === null) throw new BackupError(`${path} is missing.`);
    const bytes = await this.cipher.open(sealed, name, path, chunkBytes);
    if (this.cipher.nameOf(bytes) !== name) throw new BackupError(`${path} is damaged: it is not what was written.`);
    return bytes;
  }

  /** Makes a backup of what was put: from here on it is one. Gives its name. */
  async commit(list: unknown, now: Date): Promise<string> {
    await this.place.flush();
    const time = now.toISOString().slice(0, 23).replaceAll(/[:.]/g, '-');
    const name = `${time}Z-${randomBytes(3).toString('hex')}`;
    const sealed = await this.cipher.seal(Buffer.from(JSON.stringify(list)), `backup ${name}`);
    await this.place.write(`${this.lists}/${name}`, sealed, { durable: true });
    this.known.add(name);
    this.written.bytes += sealed.length;
    return name;
  }

  /** The backup's list, as it was given to `commit`. Rejects with `BackupMissingError` where there is none of that name. */
  async list(name: string): Promise<unknown> {
    const path = this.place.where(`${this.lists}/${name}`);
    const sealed = listName.test(name) ? await this.place.read(`${this.lists}/${name}`, maxListBytes) : null;
    if (sealed === null) {
      // Whoever asks has been shown it.
      this.late = true;
      throw new BackupMissingError(`There is no backup ${name} in ${this.place.where(this.lists)}.`);
    }
    return JSON.parse((await this.cipher.open(sealed, `backup ${name}`, path, maxListBytes)).toString()) as unknown;
  }

  /** Takes backups of this key away, but for the newest `keep`; gives those that went. */
  async forget(keep: number): Promise<string[]> {
    const gone = (await this.backups()).slice(0, -keep);
    for (const name of gone) {
      await this.place.remove(`${this.lists}/${name}`);
      this.known.delete(name);
      this.removed.add(name);
    }
    return gone;
  }

  /** Removes chunks that none of the lists names, and what was half written. Nothing where the place lists late. */
  async sweep(lists: readonly Iterable<string>[]): Promise<void> {
    if (this.late) return;
    const needed = new Set<string>();
    for (const list of lists) for (const name of list) needed.add(name);
    let gone: string[] = [];
    const remove = async (): Promise<void> => {
      await Promise.all(gone.map((path) => this.place.remove(path)));
      gone = [];
    };
    for await (const { path, isFresh } of this.place.list(this.chunks)) {
      const name = chunkOf(path);
      const isUnneeded = name === null ? unfinishedChunk.test(path) : !needed.has(name) && !isFresh;
      if (isUnneeded) gone.push(`${this.chunks}/${path}`);
      if (gone.length === removedAtOnce) await remove();
    }
    await remove();
    for await (const { path } of this.place.list(this.lists)) {
      if (unfinishedList.test(path)) await this.place.remove(`${this.lists}/${path}`);
    }
  }
}

/** Null where a chunk of that name would lie elsewhere. */
function chunkOf(path: string): string | null {
  const name = path.slice(3);
  return chunkPath.test(path) && path.startsWith(name.slice(0, 2)) ? name : null;
}
