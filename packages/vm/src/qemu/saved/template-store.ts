/**
 * Templates on disk: `<cacheDir>/templates/<id>/`, shared by every Lodge of the host.
 *
 *   manifest.json  the manifest below; 0600, because the runtime's facts hold the gateway's token
 *   memory         the guest's memory, sparse, mapped copy-on-write by every clone
 *   disk.qcow2     overlay over the image's root disk, beneath every clone's overlay
 *   devices        device state; read by us and handed to QEMU as an open file
 *   users/<name>   one for each Lodge of the host that may have VMs over it: its data folder
 *
 * An id is `<hash>-<build>`: the hash names what the template was made from, the build which time it was made. A template
 * that is damaged is made again beside it and never replaced: agents' disks lie over its disk.
 *
 * A folder appears whole, by rename, and is complete from then on. What was changed since is told by each file's change
 * time, which nobody without root can set back, and that is looked at before every use. What the disk beneath has lost is
 * told by the files' SHA-256: before a process first uses a template, and again when a change time has moved, all of the
 * file is read, in a thread, at more than a gigabyte a second; the processes after it in the same control plane rely on it.
 *
 * A template is removed when no Lodge of the host uses it. Each says so in `users` before it makes a VM over one, and takes
 * that back when none of its VMs, running, suspended or a disk at rest, needs it; the last one removes it. A Lodge that is
 * gone cannot take it back: it counts as gone when its data folder is, and it has not said so again for a week (a Lodge in
 * another container may share the cache and not show its data).
 */
import { createHash, randomBytes } from 'node:crypto';
import { access, chmod, chown, mkdir, open, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RuntimeFacts, Template } from '@lodge/ports';
import { VmError } from '@lodge/ports';
import { templateGid } from '../machine/confinement.ts';
import { entries, syncFile } from '../host/files.ts';
import { lock } from '../host/lock.ts';
import { Thread } from '../host/thread.ts';

export interface TemplateFiles {
  readonly memory: string;
  readonly disk: string;
  readonly devices: string;
}

const fileNames: TemplateFiles = { memory: 'memory', disk: 'disk.qcow2', devices: 'devices' };

interface Manifest {
  readonly version: 2;
  readonly imageId: string;
  readonly facts: RuntimeFacts;
  /** QEMU and accelerator, the only ones that load it. */
  readonly madeWith: string;
  readonly diskBytes: number;
  /** The image's files that boot and clones need, by absolute path. */
  readonly kernel: string;
  readonly initrd: string;
  readonly rootDisk: string;
  readonly marks: Readonly<Record<keyof TemplateFiles, string>>;
  /** SHA-256 of each file. */
  readonly sums: Readonly<Record<keyof TemplateFiles, string>>;
}

/** A template with what it takes to start a VM from it. */
export interface StoredTemplate {
  readonly template: Template;
  readonly files: TemplateFiles;
  readonly madeWith: string;
  readonly diskBytes: number;
  readonly kernel: string;
  readonly initrd: string;
}

/** Where a template is being made; becomes one by `commit`. */
export interface TemplateDraft {
  readonly id: string;
  readonly path: string;
  readonly files: TemplateFiles;
}

export interface StoreOwner {
  readonly instance: string;
  readonly dataDir: string;
}

const removed = '.removed-';
const lockTimeoutMs = 30_000;
const absentMs = 7 * 24 * 60 * 60_000;

export class TemplateStore {
  readonly root: string;
  private readonly owner: StoreOwner;
  private readonly used = new Set<string>();
  /** By file and mark: whether it holds what was written. */
  private readonly checked = new Map<string, Promise<boolean>>();

  constructor(cacheDir: string, owner: StoreOwner) {
    this.root = join(cacheDir, 'templates');
    this.owner = owner;
  }

  /** The newest whole template of that hash. */
  async find(hash: string): Promise<StoredTemplate | null> {
    const ids = (await entries(this.root)).filter((name) => name.startsWith(`${hash}-`));
    for (const id of ids.sort().toReversed()) {
      const found = await this.whole(id);
      if (found) return found;
    }
    return null;
  }

  /** The template of that id, if all of it is as it was made. */
  async whole(id: string): Promise<StoredTemplate | null> {
    const manifest = await this.manifest(id);
    if (!manifest) return null;
    if (!(await this.isWhole(id, manifest, ['memory', 'disk', 'devices']))) return null;
    return this.stored(id, manifest);
  }

  /** The template of that id, if a disk over it can still be booted: its memory may be gone. */
  async bootable(id: string): Promise<StoredTemplate | null> {
    const manifest = await this.manifest(id);
    if (!manifest || !(await this.isWhole(id, manifest, ['disk']))) return null;
    return this.stored(id, manifest);
  }

  /** Says that this Lodge may have VMs over the template. False when it is not there. */
  async use(id: string): Promise<boolean> {
    if (this.used.has(id)) return true;
    const unlock = await lock(this.useLock(id), { timeoutMs: lockTimeoutMs });
    try {
      if (!(await this.manifest(id))) return false;
      await this.writeUser(join(this.root, id));
      this.used.add(id);
      return true;
    } finally {
      unlock();
    }
  }

  /** Gives up the templates that this Lodge does not need, and removes those that nobody uses any more. */
  async collect(
    needs: (id: string) => boolean,
  ): Promise<readonly { readonly id: string; readonly rootDisk: string }[]> {
    const gone: { id: string; rootDisk: string }[] = [];
    for (const id of await entries(this.root)) {
      const path = join(this.root, id);
      if (id.startsWith(removed)) await rm(path, { recursive: true, force: true });
      // Without users it is none of ours: of an older Lodge, which did not say so.
      if (id.startsWith('.') || !(await entries(path)).includes('users')) continue;
      if (needs(id)) {
        if (await this.use(id)) await this.stillUsed(path);
        continue;
      }
      const unlock = await lock(this.useLock(id), { timeoutMs: lockTimeoutMs });
      try {
        // Asked again, for somebody may have begun to need it while the lock was waited for.
        if (needs(id)) continue;
        this.used.delete(id);
        await rm(join(path, 'users', this.owner.instance), { force: true });
        if ((await this.users(path)).length > 0) continue;
        const rootDisk = (await this.manifest(id).catch(() => null))?.rootDisk ?? '';
        await rename(path, join(this.root, `${removed}${id}`));
        gone.push({ id, rootDisk });
      } finally {
        unlock();
      }
      await rm(join(this.root, `${removed}${id}`), { recursive: true, force: true });
    }
    return gone;
  }

  /** Images' disks that templates lie over. */
  async rootDisks(): Promise<ReadonlySet<string>> {
    const ids = (await entries(this.root)).filter((name) => !name.startsWith('.'));
    const manifests = await Promise.all(ids.map((id) => this.manifest(id)));
    return new Set(manifests.flatMap((manifest) => manifest?.rootDisk ?? []));
  }

  /** A folder to make a template in. The caller has the hash's lock, so what other drafts of it there are is dead. */
  async draft(hash: string, uid: number): Promise<TemplateDraft> {
    await mkdir(this.root, { recursive: true, mode: 0o711 });
    const build = `${Date.now().toString(36)}${randomBytes(3).toString('hex')}`;
    for (const name of await entries(this.root)) {
      if (name.startsWith(`.building-${hash}-`)) await rm(join(this.root, name), { recursive: true, force: true });
    }
    const path = join(this.root, `.building-${hash}-${this.owner.instance}`);
    await mkdir(path, { mode: 0o700 });
    await chown(path, uid, uid);
    return { id: `${hash}-${build}`, path, files: inFolder(path) };
  }

  /** Makes a finished draft a template. QEMU has ended. */
  async commit(
    draft: TemplateDraft,
    made: Omit<Manifest, 'version' | 'marks' | 'sums'>,
    readOnlyMapping: boolean,
  ): Promise<StoredTemplate> {
    await settle(draft.files.devices, 0, 0o600);
    await settle(draft.files.disk, templateGid, 0o640);
    // Before QEMU 8.2 a file must be opened for writing even to be mapped copy-on-write (docs/adr/0006-template-memory.md).
    await settle(draft.files.memory, templateGid, readOnlyMapping ? 0o640 : 0o660);
    const marks = {
      memory: await mark(draft.files.memory),
      disk: await mark(draft.files.disk),
      devices: await mark(draft.files.devices),
    } as Manifest['marks'];
    const [memory, disk, devices] = await sumsOf([draft.files.memory, draft.files.disk, draft.files.devices]);
    const manifest: Manifest = {
      version: 2,
      ...made,
      marks,
      sums: { memory: memory!, disk: disk!, devices: devices! },
    };
    const file = await open(join(draft.path, 'manifest.json'), 'wx', 0o600);
    await file.write(`${JSON.stringify(manifest)}\n`);
    await file.sync();
    await file.close();
    await this.writeUser(draft.path);
    this.used.add(draft.id);
    await chown(draft.path, 0, templateGid);
    await chmod(draft.path, 0o750);
    await syncFile(draft.path);
    await rename(draft.path, join(this.root, draft.id));
    await syncFile(this.root);
    return this.stored(draft.id, manifest);
  }

  async discard(draft: TemplateDraft): Promise<void> {
    await rm(draft.path, { recursive: true, force: true });
  }

  /** Folders that a build of this instance left when it was killed. */
  async abandonedDrafts(): Promise<string[]> {
    const names = await entries(this.root);
    return names
      .filter((name) => name.startsWith('.building-') && name.endsWith(`-${this.owner.instance}`))
      .map((name) => join(this.root, name));
  }

  private async isWhole(id: string, manifest: Manifest, names: readonly (keyof TemplateFiles)[]): Promise<boolean> {
    const files = inFolder(join(this.root, id));
    for (const name of names) if ((await mark(files[name])) !== manifest.marks[name]) return false;
    const checks = names.map((name) => this.holds(files[name], manifest.marks[name], manifest.sums[name]));
    return (await Promise.all(checks)).every(Boolean);
  }

  /** Reads the file once for as long as its mark is the same. */
  private holds(path: string, at: string, sum: string): Promise<boolean> {
    const key = `${path} ${at}`;
    const known = this.checked.get(key);
    if (known) return known;
    const check = sumsOf([path]).then(([found]) => found === sum);
    this.checked.set(key, check);
    // One that could not be read is tried again.
    check.catch(() => this.checked.delete(key));
    return check;
  }

  private useLock(id: string): string {
    return `template ${this.root} ${id} is used or removed`;
  }

  private async writeUser(path: string): Promise<void> {
    await mkdir(join(path, 'users'), { recursive: true, mode: 0o700 });
    await writeFile(join(path, 'users', this.owner.instance), this.owner.dataDir, { mode: 0o600 });
  }

  private async stillUsed(path: string): Promise<void> {
    const now = new Date();
    await utimes(join(path, 'users', this.owner.instance), now, now);
  }

  /** Other Lodges that have said that they use it and are not gone. */
  private async users(path: string): Promise<string[]> {
    const found: string[] = [];
    for (const name of await entries(join(path, 'users'))) {
      const file = join(path, 'users', name);
      const dataDir = await readFile(file, 'utf8');
      const there = await access(dataDir).then(
        () => true,
        () => false,
      );
      if (there || Date.now() - (await stat(file)).mtimeMs < absentMs) found.push(name);
    }
    return found;
  }

  private stored(id: string, manifest: Manifest): StoredTemplate {
    const { imageId, facts, ...rest } = manifest;
    return { template: { id, imageId, facts }, files: inFolder(join(this.root, id)), ...rest };
  }

  private async manifest(id: string): Promise<Manifest | null> {
    if (!/^[a-z0-9]+-[a-z0-9]+$/.test(id)) throw new VmError('template_missing', `not a template id: ${id}`);
    try {
      const manifest = JSON.parse(await readFile(join(this.root, id, 'manifest.json'), 'utf8')) as Manifest;
      if (manifest.version !== 2) return null;
      for (const path of [manifest.kernel, manifest.initrd, manifest.rootDisk]) await stat(path);
      return manifest;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return null;
      throw error;
    }
  }
}

/** Name of everything a template is made from: equal facts, equal name. */
export function templateHash(facts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 16);
}

function inFolder(path: string): TemplateFiles {
  return {
    memory: join(path, fileNames.memory),
    disk: join(path, fileNames.disk),
    devices: join(path, fileNames.devices),
  };
}

/** Size, identity and change times of a file; null when it is absent. */
async function mark(path: string): Promise<string | null> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found && `${found.size}:${found.ino}:${found.mtimeNs}:${found.ctimeNs}`;
}

/** Gives a file its final owner and mode and makes its bytes survive a loss of power. */
async function settle(path: string, gid: number, mode: number): Promise<void> {
  await chown(path, 0, gid);
  await chmod(path, mode);
  await syncFile(path);
}

/** SHA-256 of each file. */
async function sumsOf(paths: readonly string[]): Promise<readonly string[]> {
  const thread = new Thread<readonly string[]>(new URL('sum-thread.ts', import.meta.url));
  try {
    return await thread.run<readonly string[]>(paths, new AbortController().signal);
  } finally {
    await thread.end();
  }
}
