/**
 * The backups under one master key in one place: a repository of restic's at `<place>/lodge-<master key id>`. One backup is a
 * set of snapshots, its parts, which carry its name as a tag:
 *
 *   part   files of agents, in one or more: as many as there was room to copy at a time
 *   list   the last one: database, templates, and what the backup has; from then on there is the backup
 *
 * Parts without a list were cut off, or have lost it to retention: they are no backup, and `clear` removes them. A run of
 * restic that was killed leaves its lock; restic itself tells a lock whose process is gone, and removes it.
 */
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BackupError, BackupMissingError } from '../errors.ts';
import type { Place } from './place.ts';
import { repositoryIn } from './place.ts';
import { resticAbilities, runRestic } from './program.ts';
import type { Ended, ResticOptions, Run } from './program.ts';
import { isAbsent, isLocked, refusal } from './refusals.ts';
import type { Verb } from './refusals.ts';

const openMs = 120_000;
/** A restore, a check or a clear-up says nothing on the way; restic gives a storage up by itself, after 15 minutes. */
const quietMs = 7 * 24 * 3_600_000;
const mark = 'lodge';
const listTag = 'list';
const backupName = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}-\d{3}Z-[0-9a-f]{6}$/;

export interface Snapshot {
  readonly id: string;
  readonly backup: string;
  /** Null: it is the list. */
  readonly part: number | null;
}

export interface Progress {
  readonly doneBytes: number;
  readonly totalBytes: number;
}

export interface Stored {
  readonly files: number;
  /** Bytes that were new to the place, before they were compressed. */
  readonly addedBytes: number;
}

export interface StoreWork {
  readonly backup: string;
  readonly part: number | null;
  /** Where the files lie: their names are relative to it. */
  readonly folder: string;
  readonly files: readonly string[];
  /** For the list of files: in a folder that nobody else reads. */
  readonly scratch: string;
  readonly parent: string | null;
  readonly onProgress: (progress: Progress) => void;
}

export interface RepositoryOptions extends Omit<ResticOptions, 'repository' | 'ssh'> {
  readonly place: Place;
  readonly keyId: string;
}

export class Repository {
  readonly place: Place;
  readonly keyId: string;
  private readonly restic: ResticOptions;
  private readonly isSparse: boolean;
  private found: readonly Snapshot[] = [];

  private constructor({ place, keyId, ...restic }: RepositoryOptions, isSparse: boolean) {
    this.place = place;
    this.keyId = keyId;
    this.restic = { ...restic, repository: repositoryIn(place, keyId), ssh: place.ssh };
    this.isSparse = isSparse;
  }

  /** Null where there is none under this key, unless `create`. */
  static async open(options: RepositoryOptions, { create }: { readonly create: boolean }): Promise<Repository | null> {
    const { sparse } = await resticAbilities();
    const repository = new Repository(options, sparse);
    const ended = await repository.snapshots();
    if (ended.code === 0) return repository;
    if (!isAbsent(ended.said)) throw refusal(ended.said, options.place.name, 'read');
    if (!create) return null;
    await repository.run('written', ['init', '--repository-version', '2'], { silentMs: openMs });
    return repository;
  }

  /** Whether a restore keeps holes; else it writes them as zeros. */
  get keepsHoles(): boolean {
    return this.isSparse;
  }

  /** Names of the backups, the oldest first. */
  backups(): string[] {
    return this.found.flatMap(({ backup, part }) => (part === null ? [backup] : [])).toSorted();
  }

  /** Throws `BackupMissingError`. */
  snapshotOf(backup: string, part: number | null): Snapshot {
    const snapshot = this.found.find((each) => each.backup === backup && each.part === part);
    if (snapshot) return snapshot;
    throw new BackupMissingError(`There is no backup ${backup} in ${this.place.name}.`);
  }

  /** The snapshot that this part most likely shares its files with. */
  parentOf(part: number | null): string | null {
    const latest = this.backups().at(-1);
    return this.found.find((each) => each.backup === latest && each.part === part)?.id ?? null;
  }

  /** Stores the files as one snapshot. Some may have gone meanwhile: `files` says how many were there. */
  async store(work: StoreWork): Promise<Stored> {
    const { backup, part, folder, files, scratch, parent, onProgress } = work;
    const names = `${scratch}/files`;
    await writeFile(names, files.map((name) => `${name}\0`).join(''), { mode: 0o600 });
    const tags = [mark, `backup=${backup}`, part === null ? listTag : `part=${part}`].join(',');
    const onLine = (line: Readonly<Record<string, unknown>>): void => {
      if (line['message_type'] !== 'status') return;
      onProgress({ doneBytes: numberIn(line, 'bytes_done'), totalBytes: numberIn(line, 'total_bytes') });
    };
    const args = [
      'backup',
      '--files-from-raw',
      names,
      '--tag',
      tags,
      ...(parent === null ? ['--force'] : ['--parent', parent]),
    ];
    const { json } = await this.run('written', args, { cwd: folder, onLine });
    const summary = json as Readonly<Record<string, unknown>> | null;
    if (summary?.['message_type'] !== 'summary') throw refusal('', this.place.name, 'written');
    return { files: numberIn(summary, 'total_files_processed'), addedBytes: numberIn(summary, 'data_added') };
  }

  /** Puts what a snapshot has of those names, or all of it, into a folder. Every byte is checked on the way. */
  async restore({ id }: Snapshot, target: string, names: readonly string[] = []): Promise<void> {
    const which = names.flatMap((name) => ['--include', `/${name}`]);
    const sparse = this.isSparse ? ['--sparse'] : [];
    await this.run('read', ['--no-lock', 'restore', id, '--target', target, ...which, ...sparse], {
      silentMs: quietMs,
    });
  }

  /** Removes lists that `keep` does not want (restic's own options), and gives their names. */
  async forget(keep: readonly string[]): Promise<string[]> {
    const before = await this.refresh();
    await this.run('cleared up', ['forget', '--tag', `${mark},${listTag}`, '--group-by', '', ...keep]);
    const after = await this.refresh();
    return before.filter((name) => !after.includes(name));
  }

  /** Removes parts that belong to no list, and with them, or where `always`, what nothing needs. */
  async clear({ always }: { readonly always: boolean }): Promise<void> {
    const lists = new Set(await this.refresh());
    const ids = this.found.flatMap(({ id, backup, part }) => (part !== null && !lists.has(backup) ? [id] : []));
    if (ids.length > 0) await this.run('cleared up', ['forget', ...ids]);
    this.found = this.found.filter(({ id }) => !ids.includes(id));
    if (ids.length > 0 || always) await this.run('cleared up', ['prune'], { silentMs: quietMs });
    if (always && this.place.folder !== null) await removeHalfFiles(repositoryIn(this.place, this.keyId));
  }

  /** Rejects with `BackupError` where the repository is not whole. `everything` reads every byte of it. */
  async check({ everything }: { readonly everything: boolean }): Promise<void> {
    await this.run('checked', ['check', ...(everything ? ['--read-data'] : [])], { silentMs: quietMs });
  }

  private async refresh(): Promise<string[]> {
    const { code, said } = await this.snapshots();
    if (code !== 0) throw refusal(said, this.place.name, 'read');
    return this.backups();
  }

  private async snapshots(): Promise<Ended> {
    const ended = await runRestic(this.restic, ['--no-lock', 'snapshots', '--tag', mark], { silentMs: openMs });
    if (ended.code === 0) this.found = Array.isArray(ended.json) ? ended.json.flatMap(snapshotOf) : [];
    return ended;
  }

  /** Once more where the lock of a run that was killed was in the way: `unlock` removes no other. */
  private async run(verb: Verb, args: readonly string[], how: Run = {}): Promise<Ended> {
    let ended = await runRestic(this.restic, args, how);
    if (ended.code !== 0 && isLocked(ended.said)) {
      await runRestic(this.restic, ['unlock']);
      ended = await runRestic(this.restic, args, how);
    }
    if (ended.code !== 0) throw refusal(ended.said, this.place.name, verb);
    return ended;
  }
}

/** In a folder restic writes a file under another name first. It never comes back to one that was cut off. */
async function removeHalfFiles(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && /^[0-9a-f]{64}-tmp-\d+$/.test(entry.name)) await rm(join(entry.parentPath, entry.name));
  }
}

function snapshotOf(value: unknown): Snapshot[] {
  const { id, tags } = value as { readonly id?: unknown; readonly tags?: unknown };
  if (typeof id !== 'string' || !/^[0-9a-f]{64}$/.test(id) || !Array.isArray(tags)) return [];
  const after = (key: string): string | undefined =>
    (tags as unknown[])
      .filter((tag) => typeof tag === 'string')
      .find((tag) => tag.startsWith(key))
      ?.slice(key.length);
  const [backup = '', part] = [after('backup='), after('part=')];
  if (!backupName.test(backup) || (part === undefined && !tags.includes(listTag))) return [];
  return [{ id, backup, part: part === undefined ? null : Number(part) }];
}

function numberIn(line: Readonly<Record<string, unknown>>, name: string): number {
  const value = line[name];
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;
}

/** A new name: it sorts by its time. */
export function newBackupName(at: Date, random: string): string {
  const name = `${at.toISOString().slice(0, 23).replaceAll(/[:.]/g, '-')}Z-${random}`;
  if (!backupName.test(name)) throw new BackupError('The clock of this machine cannot be read.');
  return name;
}
