/**
 * Templates on disk: `<cacheDir>/templates/<id>/`, shared by every Lodge of the host.
 *
 *   manifest.json  the manifest below; 0600, because the runtime's facts hold the gateway's token
 *   memory         the guest's memory, sparse, mapped copy-on-write by every clone
 *   disk.qcow2     overlay over the image's root disk, beneath every clone's overlay
 *   devices        device state; read by us and handed to QEMU as an open file
 *
 * An id is `<hash>-<build>`: the hash names what the template was made from, the build which time it was made. A template
 * that is damaged is made again beside it and never replaced: agents' disks lie over its disk.
 *
 * A folder appears whole, by rename, and is complete from then on. What was changed since is told by each file's change
 * time, which nobody without root can set back.
 */
import { createHash, randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, open, readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RuntimeFacts, Template } from '@lodge/engine/ports';
import { VmError } from '@lodge/engine/ports';
import { templateGid } from './confinement.ts';

export interface TemplateFiles {
  readonly memory: string;
  readonly disk: string;
  readonly devices: string;
}

const fileNames: TemplateFiles = { memory: 'memory', disk: 'disk.qcow2', devices: 'devices' };

interface Manifest {
  readonly version: 1;
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

export class TemplateStore {
  readonly root: string;
  private readonly instance: string;

  constructor(cacheDir: string, instance: string) {
    this.root = join(cacheDir, 'templates');
    this.instance = instance;
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
    const files = inFolder(join(this.root, id));
    for (const name of Object.keys(files) as (keyof TemplateFiles)[]) {
      if ((await mark(files[name])) !== manifest.marks[name]) return null;
    }
    return this.stored(id, manifest);
  }

  /** The template of that id, if a disk over it can still be booted: its memory may be gone. */
  async bootable(id: string): Promise<StoredTemplate | null> {
    const manifest = await this.manifest(id);
    if (!manifest || (await mark(inFolder(join(this.root, id)).disk)) !== manifest.marks.disk) return null;
    return this.stored(id, manifest);
  }

  /** A folder to make a template in. The caller has the hash's lock, so what other drafts of it there are is dead. */
  async draft(hash: string, uid: number): Promise<TemplateDraft> {
    await mkdir(this.root, { recursive: true, mode: 0o711 });
    const build = `${Date.now().toString(36)}${randomBytes(3).toString('hex')}`;
    for (const name of await entries(this.root)) {
      if (name.startsWith(`.building-${hash}-`)) await rm(join(this.root, name), { recursive: true, force: true });
    }
    const path = join(this.root, `.building-${hash}-${this.instance}`);
    await mkdir(path, { mode: 0o700 });
    await chown(path, uid, uid);
    return { id: `${hash}-${build}`, path, files: inFolder(path) };
  }

  /** Makes a finished draft a template. QEMU has ended. */
  async commit(
    draft: TemplateDraft,
    made: Omit<Manifest, 'version' | 'marks'>,
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
    const manifest: Manifest = { version: 1, ...made, marks };
    const file = await open(join(draft.path, 'manifest.json'), 'wx', 0o600);
    await file.write(`${JSON.stringify(manifest)}\n`);
    await file.sync();
    await file.close();
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
      .filter((name) => name.startsWith('.building-') && name.endsWith(`-${this.instance}`))
      .map((name) => join(this.root, name));
  }

  private stored(id: string, manifest: Manifest): StoredTemplate {
    const { imageId, facts, ...rest } = manifest;
    return { template: { id, imageId, facts }, files: inFolder(join(this.root, id)), ...rest };
  }

  private async manifest(id: string): Promise<Manifest | null> {
    if (!/^[a-z0-9]+-[a-z0-9]+$/.test(id)) throw new VmError('template_missing', `not a template id: ${id}`);
    try {
      const manifest = JSON.parse(await readFile(join(this.root, id, 'manifest.json'), 'utf8')) as Manifest;
      if (manifest.version !== 1) return null;
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

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

async function entries(path: string): Promise<string[]> {
  return readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}
