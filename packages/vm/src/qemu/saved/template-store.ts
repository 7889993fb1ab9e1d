/**
 * Templates in the cache: `<cacheDir>/templates/<id>/`, shared by every Lodge of the host. No agent needs them there: a
 * Lodge takes the ones that it uses into its data folder (`own-templates.ts`).
 *
 *   manifest.json  what it was made from; 0600, because the runtime's facts hold the gateway's token
 *   memory         the guest's memory, sparse, mapped copy-on-write by every clone
 *   disk.qcow2     overlay over root.qcow2 beside it, beneath every clone's overlay
 *   devices        device state; read by us and handed to QEMU as an open file
 *   kernel, initrd, root.qcow2    the image's own files, by other names of theirs
 *   users/<name>   one for each Lodge of the host that may use it: its data folder
 *
 * An id is `<hash>-<build>`: the hash names the template's inputs, the build distinguishes its copies. A damaged template is
 * made again beside it and never replaced.
 *
 * A folder appears whole, by rename, and is complete from then on; `template-checks.ts` finds later changes.
 *
 * A template is removed when no Lodge of the host uses it. Each Lodge says so in `users` before it uses one. It takes that
 * back when neither a create nor any of its VMs, running, suspended or a disk at rest, needs it; the last one removes it. A
 * Lodge that is gone cannot take it back. It counts as gone when its data folder is gone and its note is a week old, because
 * a Lodge in another container may share the cache and not show its data.
 */
import { createHash, randomBytes } from 'node:crypto';
import { access, chmod, chown, mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Image } from '@lodge/ports';
import { templateGid } from '../machine/confinement.ts';
import { entries, syncFile } from '../host/files.ts';
import { lock } from '../host/lock.ts';
import { copyFile, linkFile } from '../host/take-file.ts';
import { repoint } from './backing.ts';
import { factsOf, templateFileNames, templateFiles } from './template-checks.ts';
import type { TemplateChecks, TemplateFile } from './template-checks.ts';
import { manifestName, TemplateShelf } from './template-shelf.ts';
import type { Manifest, StoredTemplate, TemplateFiles } from './template-shelf.ts';

/** A template in the making; `commit` makes it one. */
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

/** The inputs of a template. */
export interface TemplateMade extends Omit<Manifest, 'version' | 'files' | 'imageId' | 'rootDisk'> {
  readonly image: Image;
  /** The image's disk in the cache, if `image` names other files of the same bytes. Default: that of `image`. */
  readonly madeOver?: string;
}

export class TemplateStore extends TemplateShelf {
  private readonly owner: StoreOwner;

  constructor(cacheDir: string, owner: StoreOwner, checks: TemplateChecks) {
    super(join(cacheDir, 'templates'), checks);
    this.owner = owner;
  }

  /** Says that this Lodge uses the template: nobody removes it from then on. Returns false when it is not there. */
  async use(id: string): Promise<boolean> {
    const unlock = await lock(this.useLock(id), { timeoutMs: lockTimeoutMs });
    try {
      if (!(await this.manifest(id))) return false;
      await this.writeUser(join(this.root, id));
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
      // A template without users belongs to an older Lodge, which did not record them.
      if (id.startsWith('.') || !(await entries(path)).includes('users')) continue;
      if (needs(id)) {
        if (await this.use(id)) await this.stillUsed(path);
        continue;
      }
      const unlock = await lock(this.useLock(id), { timeoutMs: lockTimeoutMs });
      try {
        // The question is repeated, because somebody may have begun to need it during the wait for the lock.
        if (needs(id)) continue;
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

  /**
   * Images' disks that templates were made over. VMs of an older Lodge may lie over the image of an older template itself.
   */
  async rootDisks(): Promise<ReadonlySet<string>> {
    const manifests = await Promise.all((await this.ids()).map((id) => this.manifest(id)));
    return new Set(manifests.flatMap((manifest) => manifest?.rootDisk ?? []));
  }

  /** Makes a folder for a new template. The caller has the hash's lock, so other drafts of it are dead. */
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

  /** Whether no other Lodge has said that it uses the template. */
  async isOursAlone(id: string): Promise<boolean> {
    const names = await entries(join(this.root, id, 'users'));
    return names.every((name) => name === this.owner.instance);
  }

  /** Makes a finished draft a template. QEMU has ended. */
  async commit(draft: TemplateDraft, made: TemplateMade, readOnlyMapping: boolean): Promise<StoredTemplate> {
    await chown(draft.path, 0, 0);
    await settle(draft.files.devices, 0, 0o600);
    await settle(draft.files.disk, templateGid, 0o640);
    // Before QEMU 8.2 a file must be opened for writing even to be mapped copy-on-write (docs/adr/0006-template-memory.md).
    await settle(draft.files.memory, templateGid, readOnlyMapping ? 0o640 : 0o660);
    const { image, madeOver = image.rootDisk, ...rest } = made;
    const fileOf = (name: TemplateFile): string => join(draft.path, templateFileNames[name]);
    const sources = { kernel: image.kernel, initrd: image.initrd, rootDisk: image.rootDisk };
    for (const [name, from] of Object.entries(sources)) {
      const to = fileOf(name as TemplateFile);
      if (!(await linkFile(from, to))) await copyFile(from, to);
    }
    // The image's disk lies beside it, wherever the folder is.
    await repoint(draft.files.disk, templateFileNames.rootDisk);
    const facts = await factsOf(templateFiles.map(fileOf));
    const files = Object.fromEntries(templateFiles.map((name, index) => [name, facts[index]])) as Manifest['files'];
    const manifest: Manifest = { version: 3, ...rest, imageId: image.id, rootDisk: madeOver, files };
    await writeManifest(draft.path, manifest);
    await this.writeUser(draft.path);
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
}

/** The name of everything that a template is made from: equal facts have an equal name. */
export function templateHash(facts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 16);
}

function inFolder(path: string): TemplateFiles {
  const { memory, disk, devices } = templateFileNames;
  return { memory: join(path, memory), disk: join(path, disk), devices: join(path, devices) };
}

/** Gives a file its final owner and mode and makes its bytes survive a loss of power. */
async function settle(path: string, gid: number, mode: number): Promise<void> {
  await chown(path, 0, gid);
  await chmod(path, mode);
  await syncFile(path);
}

/** Writes the manifest, which is on the disk when it resolves. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const text = `${JSON.stringify(manifest)}\n`;
  await writeFile(join(folder, manifestName), text, { flag: 'wx', mode: 0o600, flush: true });
}
