/**
 * The templates that this Lodge uses: `<dataDir>/templates/<id>/`, with the files of the one in the cache except `users`.
 * Disks of agents lie over these, and snapshots' pages over their memory, so no agent needs the cache.
 *
 *   in the cache -> .taking-<id>: links, or copies where the cache is on another file system -> <id>, by one rename
 *
 * A link costs nothing; the cache may be emptied, and the bytes stay. A kill leaves a `.taking-` or a `.removed-` folder,
 * which the next start removes. A damaged template is repaired file by file from a whole one in the cache, because a
 * template of one id has the same bytes everywhere.
 *
 * An older template, whose disk lay over an image in the cache, is made one that stands alone: its disk, a few megabytes, is
 * copied and put over the image's disk beside it. If another Lodge uses it, all is copied, because an older Lodge takes a
 * link for damage.
 */
import { chmod, chown, mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import type { Log } from '@lodge/ports';
import { templateGid } from '../machine/confinement.ts';
import { freeSpace } from '../host/capacity.ts';
import { entries, syncFile } from '../host/files.ts';
import { lock } from '../host/lock.ts';
import { copyFile, linkFile } from '../host/take-file.ts';
import { repoint } from './backing.ts';
import { sumsOf } from './sums.ts';
import { factsOf, templateFileNames, templateFiles } from './template-checks.ts';
import type { FileFacts, TemplateChecks, TemplateFile } from './template-checks.ts';
import { manifestName, readManifest, TemplateShelf } from './template-shelf.ts';
import type { Manifest, OldManifest } from './template-shelf.ts';
import { writeManifest } from './template-store.ts';
import type { TemplateStore } from './template-store.ts';

export interface OwnTemplatesOptions {
  readonly dataDir: string;
  /** Space that must stay free beside a copy, MiB. */
  readonly diskFloorMib: number;
  readonly log: Log;
  /** How a file is taken. Default: `take-file.ts`. */
  readonly take?: { readonly linkFile: typeof linkFile; readonly copyFile: typeof copyFile };
}

const taking = '.taking-';
const removed = '.removed-';
/** Wait for another process' copy of gigabytes. */
const takeTimeoutMs = 30 * 60_000;
const mib = 2 ** 20;

export class OwnTemplates extends TemplateShelf {
  private readonly cache: TemplateStore;
  private readonly options: OwnTemplatesOptions;
  private readonly by: Required<OwnTemplatesOptions>['take'];

  constructor(cache: TemplateStore, options: OwnTemplatesOptions, checks: TemplateChecks) {
    super(join(options.dataDir, 'templates'), checks);
    this.cache = cache;
    this.options = options;
    this.by = options.take ?? { linkFile, copyFile };
  }

  /** Whether it was taken, whole or not. */
  async has(id: string): Promise<boolean> {
    return (await this.manifest(id)) !== null;
  }

  /** Takes the cache's files of that template. Returns false when there are none that a disk over it could boot from. */
  async take(id: string): Promise<boolean> {
    const unlock = await lock(`template ${this.root} ${id} is taken`, { timeoutMs: takeTimeoutMs });
    try {
      // From here on nobody removes it from the cache.
      if (!(await this.cache.use(id))) return false;
      const manifest = await this.cache.manifest(id);
      if (!manifest) return false;
      await mkdir(this.root, { recursive: true, mode: 0o711 });
      const draft = join(this.root, `${taking}${id}`);
      await rm(draft, { recursive: true, force: true });
      await mkdir(draft, { mode: 0o700 });
      const started = performance.now();
      const how = manifest.version === 3 ? await this.fill(id, draft) : await this.convert(id, manifest, draft);
      if (how === null) return false;
      await chown(draft, 0, templateGid);
      await chmod(draft, 0o750);
      await syncFile(draft);
      await this.put(id, draft);
      const ms = Math.round(performance.now() - started);
      this.options.log.info({ template: id, how, ms }, 'template taken into the data folder');
      return true;
    } finally {
      await rm(join(this.root, `${taking}${id}`), { recursive: true, force: true });
      unlock();
    }
  }

  /** Removes the templates that nothing needs. */
  async collect(needs: (id: string) => boolean): Promise<readonly string[]> {
    const gone: string[] = [];
    for (const id of await this.ids()) {
      if (needs(id)) continue;
      await rename(join(this.root, id), join(this.root, `${removed}${id}`));
      await rm(join(this.root, `${removed}${id}`), { recursive: true, force: true });
      gone.push(id);
    }
    return gone;
  }

  /** Removes the remains of a kill. */
  async sweep(): Promise<void> {
    for (const name of await entries(this.root)) {
      if (name.startsWith(taking) || name.startsWith(removed)) {
        await rm(join(this.root, name), { recursive: true, force: true });
      }
    }
  }

  private async fill(id: string, draft: string): Promise<'linked' | 'copied' | null> {
    if (!(await this.cache.bootable(id))) return null;
    const names = [manifestName, ...templateFiles.map((name) => templateFileNames[name])];
    return this.takeAll(names.map((name) => [join(this.cache.root, id, name), join(draft, name)]));
  }

  private async convert(id: string, old: OldManifest, draft: string): Promise<'linked' | 'copied' | null> {
    const from = (name: TemplateFile): string => this.cache.file(id, name);
    const to = (name: TemplateFile): string => join(draft, templateFileNames[name]);
    const made = ['disk', 'memory', 'devices'] as const;
    const right = new Set<TemplateFile>();
    for (const name of made) {
      const sums = await ifThere(sumsOf([from(name)]));
      if (sums?.[0] === old.sums[name]) right.add(name);
    }
    if (!right.has('disk')) return null;
    const images = [old.kernel, old.initrd, old.rootDisk];
    if ((await Promise.all(images.map((path) => stat(path).catch(() => null)))).includes(null)) return null;
    const kept = made.filter((name) => name !== 'disk' && right.has(name));
    await this.assertRoom([from('disk')]);
    await this.by.copyFile(from('disk'), to('disk'));
    await repoint(to('disk'), templateFileNames.rootDisk);
    const pairs = kept.map((name) => [from(name), to(name)] as const);
    const ours = await this.cache.isOursAlone(id);
    const how = ours ? await this.takeAll(pairs) : await this.copyAll(pairs);
    await this.takeAll([
      [old.kernel, to('kernel')],
      [old.initrd, to('initrd')],
      [old.rootDisk, to('rootDisk')],
    ]);
    const there = templateFiles.filter((name) => right.has(name) || !(made as readonly string[]).includes(name));
    const facts = await factsOf(there.map(to));
    const files = Object.fromEntries(
      templateFiles.map((name) => [name, facts[there.indexOf(name)] ?? { mark: '', sum: '' }]),
    ) as Record<TemplateFile, FileFacts>;
    const { imageId, facts: oldFacts, madeWith, counterKhz = null, diskBytes, rootDisk } = old;
    const manifest: Manifest = {
      version: 3,
      imageId,
      facts: oldFacts,
      madeWith,
      counterKhz,
      diskBytes,
      rootDisk,
      files,
    };
    await writeManifest(draft, manifest);
    return how;
  }

  /** Takes all by links, or all by copies. A missing file is left out, because the template was damaged before. */
  private async takeAll(pairs: readonly Pair[]): Promise<'linked' | 'copied'> {
    for (const [index, [from, to]] of pairs.entries()) {
      const done = await ifThere(this.by.linkFile(from, to));
      if (done === true) this.checks.linked(from, to);
      if (done === false) return this.copyAll(pairs.slice(index));
    }
    return 'linked';
  }

  private async copyAll(pairs: readonly Pair[]): Promise<'copied'> {
    const there = await Promise.all(pairs.map(([from]) => stat(from).catch(() => null)));
    const found = pairs.filter((_, index) => there[index]);
    await this.assertRoom(found.map(([from]) => from));
    for (const [from, to] of found) await this.by.copyFile(from, to);
    return 'copied';
  }

  private async assertRoom(files: readonly string[]): Promise<void> {
    const sizes = await Promise.all(files.map(async (path) => (await stat(path)).blocks * 512));
    const neededMib = Math.ceil(sizes.reduce((sum, bytes) => sum + bytes, 0) / mib) + this.options.diskFloorMib;
    const { freeMib } = await freeSpace(this.root);
    if (freeMib >= neededMib) return;
    const message = `a template of another file system needs ${neededMib} MiB in ${this.root}, and ${freeMib} MiB are free`;
    throw new VmError('disk_full', message);
  }

  private async put(id: string, draft: string): Promise<void> {
    const path = join(this.root, id);
    if ((await entries(path)).length === 0) await this.move(draft, path);
    else await this.mend(id, draft);
    await syncFile(path);
    await syncFile(this.root);
  }

  /** The files have other paths from here on, and are the ones that were read: gigabytes are not read again. */
  private async move(draft: string, path: string): Promise<void> {
    await rename(draft, path);
    for (const name of Object.values(templateFileNames)) this.checks.linked(join(draft, name), join(path, name));
  }

  /** All files of one id are equal, so the order does not matter, and a kill between two does no harm. */
  private async mend(id: string, draft: string): Promise<void> {
    const manifest = (await readManifest(draft)) as Manifest;
    for (const name of templateFiles) {
      const [from, to] = [join(draft, templateFileNames[name]), this.file(id, name)];
      if (await this.checks.isRight(to, name, manifest.files[name])) continue;
      // An absent file shows later, when something needs it.
      await ifThere(rename(from, to));
      this.checks.linked(from, to);
    }
    await rename(join(draft, manifestName), join(this.root, id, manifestName));
  }
}

type Pair = readonly [from: string, to: string];
