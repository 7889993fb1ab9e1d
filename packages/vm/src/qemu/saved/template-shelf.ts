/** Templates in one folder, by their ids: reads them and checks that they are unchanged. */
import { basename, dirname, join } from 'node:path';
import { keptPace } from '@lodge/domain';
import type { RuntimeFacts, Template } from '@lodge/ports';
import { VmError } from '@lodge/ports';
import { entries, readJson } from '../host/files.ts';
import { bootFiles, templateFileNames, templateFiles } from './template-checks.ts';
import type { FileFacts, TemplateChecks, TemplateFile } from './template-checks.ts';

export interface TemplateFiles {
  readonly memory: string;
  readonly disk: string;
  readonly devices: string;
}

export interface Manifest {
  readonly version: 3;
  readonly imageId: string;
  readonly facts: RuntimeFacts;
  /** Version of the guest's preparation; absent from older templates. */
  readonly variant?: string;
  /** QEMU and accelerator, the only ones that load it. */
  readonly madeWith: string;
  /** Rate of the guest's counter, kHz; null or absent where its processor tells it. */
  readonly counterKhz?: number | null;
  /** Whether its machine has the device of the browser's disk; absent from older templates, whose machines have none. */
  readonly hasBrowser?: boolean;
  readonly diskBytes: number;
  /** The host's pace when it was made; absent from older templates. */
  readonly pace?: number;
  /** The image's disk in the cache that it was made over; nothing is read from there. */
  readonly rootDisk: string;
  readonly files: Readonly<Record<TemplateFile, FileFacts>>;
}

/** The manifest of templates over an image in the cache, which are not made any more. */
export interface OldManifest extends Omit<Manifest, 'version' | 'files'> {
  readonly version: 2;
  /** Absolute paths of the image's files. */
  readonly kernel: string;
  readonly initrd: string;
  readonly sums: Readonly<Record<keyof TemplateFiles, string>>;
}

/** A template with everything that a VM needs to start from it. */
export interface StoredTemplate {
  readonly template: Template;
  readonly files: TemplateFiles;
  readonly madeWith: string;
  readonly counterKhz: number | null;
  readonly hasBrowser: boolean;
  readonly diskBytes: number;
  readonly kernel: string;
  readonly initrd: string;
}

export class TemplateShelf {
  readonly root: string;
  protected readonly checks: TemplateChecks;

  constructor(root: string, checks: TemplateChecks) {
    this.root = root;
    this.checks = checks;
  }

  /** The newest whole template of that hash. */
  async find(hash: string): Promise<StoredTemplate | null> {
    const ids = (await this.ids()).filter((id) => id.startsWith(`${hash}-`));
    for (const id of ids.sort().toReversed()) {
      const found = await this.whole(id);
      if (found) return found;
    }
    return null;
  }

  /** Any template over that image: its kernel is the image's. */
  async ofImage(imageId: string): Promise<StoredTemplate | null> {
    for (const id of await this.ids()) {
      const manifest = await this.current(id);
      if (manifest?.imageId === imageId) return this.stored(id, manifest);
    }
    return null;
  }

  /** The template of that id, if all of it is unchanged. */
  whole(id: string): Promise<StoredTemplate | null> {
    return this.withFiles(id, templateFiles);
  }

  /** The template of that id, if a disk over it can still be booted: its memory may be gone. */
  bootable(id: string): Promise<StoredTemplate | null> {
    return this.withFiles(id, bootFiles);
  }

  /** All existing templates, whole or not. */
  async ids(): Promise<string[]> {
    return (await entries(this.root)).filter(isTemplateId);
  }

  file(id: string, name: TemplateFile): string {
    return join(this.root, id, templateFileNames[name]);
  }

  /** Returns null when it is absent, torn, or of an unknown version. */
  async manifest(id: string): Promise<Manifest | OldManifest | null> {
    if (!isTemplateId(id)) throw new VmError('template_missing', `not a template id: ${id}`);
    return readManifest(join(this.root, id));
  }

  protected stored(id: string, manifest: Manifest): StoredTemplate {
    const { imageId, facts, variant, madeWith, counterKhz = null, hasBrowser = false, diskBytes, pace } = manifest;
    return {
      template: { id, imageId, facts, ...(variant !== undefined && { variant }), pace: keptPace(pace) },
      files: { memory: this.file(id, 'memory'), disk: this.file(id, 'disk'), devices: this.file(id, 'devices') },
      madeWith,
      counterKhz,
      hasBrowser,
      diskBytes,
      kernel: this.file(id, 'kernel'),
      initrd: this.file(id, 'initrd'),
    };
  }

  private async withFiles(id: string, names: readonly TemplateFile[]): Promise<StoredTemplate | null> {
    const manifest = await this.current(id);
    if (!manifest) return null;
    const checks = names.map((name) => this.checks.isRight(this.file(id, name), name, manifest.files[name]));
    return (await Promise.all(checks)).every(Boolean) ? this.stored(id, manifest) : null;
  }

  private async current(id: string): Promise<Manifest | null> {
    const manifest = await this.manifest(id);
    return manifest?.version === 3 ? manifest : null;
  }
}

export const manifestName = 'manifest.json';

/** Returns null when it is absent, torn, or of an unknown version. */
export async function readManifest(folder: string): Promise<Manifest | OldManifest | null> {
  const manifest = await readJson<Manifest | OldManifest>(join(folder, manifestName));
  return manifest?.version === 3 || manifest?.version === 2 ? manifest : null;
}

/** The id of the template with this disk, wherever its folder is or was; null when there is none. */
export function templateOfDisk(disk: string): string | null {
  const id = basename(dirname(disk));
  return basename(disk) === templateFileNames.disk && isTemplateId(id) ? id : null;
}

/** Whether a name is `<hash>-<build>`; no draft has such a name. */
export function isTemplateId(name: string): boolean {
  return /^[a-z0-9]+-[a-z0-9]+$/.test(name);
}
