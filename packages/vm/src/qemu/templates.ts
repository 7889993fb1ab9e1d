/** The driver's templates: found by what they are made from, made under a lock that holds across processes. */
import { join } from 'node:path';
import { VmError } from '@lodge/engine/ports';
import type { Image, Template, TemplateBuild, TemplateRequest } from '@lodge/engine/ports';
import { chooseAccelerator, processorFacts } from './accelerator.ts';
import type { AcceleratorAnswer } from './accelerator.ts';
import type { Cgroups } from './cgroup.ts';
import { qemuCommandLine } from './command-line.ts';
import type { Accelerator } from './command-line.ts';
import type { QemuDriverOptions } from './driver.ts';
import { inspectEmulator } from './emulator.ts';
import type { Emulator } from './emulator.ts';
import { lock } from './lock.ts';
import type { Slots } from './slots.ts';
import { buildTemplate } from './template-build.ts';
import { templateHash, TemplateStore } from './template-store.ts';
import type { StoredTemplate } from './template-store.ts';
import { toVmError } from '../waiting.ts';
import type { VmHost } from './vm-start.ts';

/** Somebody else's build under emulation may take most of an hour on a small host; the caller's signal usually ends sooner. */
const longestBuildMs = 2 * 60 * 60_000;

export class Templates {
  readonly store: TemplateStore;
  readonly buildsRoot: string;
  private readonly options: QemuDriverOptions;
  private readonly slots: Slots;
  private host: Promise<{ readonly emulator: Emulator; readonly accelerator: AcceleratorAnswer }> | null = null;

  constructor(options: QemuDriverOptions, slots: Slots) {
    this.options = options;
    this.slots = slots;
    this.store = new TemplateStore(options.cacheDir, options.instance);
    this.buildsRoot = join(options.dataDir, 'builds');
  }

  async find(request: TemplateRequest): Promise<Template | null> {
    return (await this.store.find(await this.hash(request)))?.template ?? null;
  }

  async get(id: string): Promise<Template | null> {
    return (await this.store.bootable(id))?.template ?? null;
  }

  /** What a VM is started from. Rejects with `template_missing` when it cannot be. */
  async startable(id: string, from: 'clone' | 'boot'): Promise<StoredTemplate> {
    const found = await (from === 'clone' ? this.store.whole(id) : this.store.bootable(id));
    if (!found) throw new VmError('template_missing', `template ${id} is not there, or not as it was made`);
    const { emulator, accelerator } = await this.means(found);
    if (from === 'clone' && found.madeWith !== madeWith(emulator, accelerator)) {
      throw new VmError('template_missing', `template ${id} was saved by ${found.madeWith} and does not load here`);
    }
    return found;
  }

  /** What VMs are made with, once it is known which accelerator works. */
  async vmHost(image: Pick<Image, 'kernel' | 'initrd'>, cgroups: Cgroups): Promise<VmHost> {
    const { network, brokerPort, instance } = this.options;
    return { ...(await this.means(image)), network, cgroups, brokerPort, instance };
  }

  async build(build: TemplateBuild, cgroups: Cgroups, signal: AbortSignal): Promise<Template> {
    const hash = await this.hash(build);
    const found = await this.store.find(hash);
    if (found) return found.template;
    const onBusy = (): void => build.progress('waiting for another process that makes the same template');
    const unlock = await lock(`template ${this.store.root} ${hash}`, { timeoutMs: longestBuildMs, signal, onBusy });
    try {
      const made = (await this.store.find(hash)) ?? (await this.make(build, hash, cgroups, signal));
      return made.template;
    } catch (error) {
      throw toVmError(error, signal);
    } finally {
      unlock();
    }
  }

  private async make(
    build: TemplateBuild,
    hash: string,
    cgroups: Cgroups,
    signal: AbortSignal,
  ): Promise<StoredTemplate> {
    const { uidBase, log } = this.options;
    const host = await this.vmHost(build.image, cgroups);
    const slot = this.slots.claim();
    const started = performance.now();
    try {
      const { buildsRoot, store } = this;
      const work = { host, store, hash, buildsRoot, slot, uid: uidBase + slot, build };
      const made = await buildTemplate({ ...work, madeWith: madeWith(host.emulator, host.accelerator) }, signal);
      const seconds = Math.round((performance.now() - started) / 1000);
      log.info({ template: made.template.id, seconds }, 'template made');
      return made;
    } finally {
      this.slots.release(slot);
    }
  }

  private async hash({ image, variant }: TemplateRequest): Promise<string> {
    const { emulator, accelerator } = await this.means(image);
    const processor = accelerator.accelerator === 'kvm' ? await processorFacts() : '';
    const facts = [image.id, variant, madeWith(emulator, accelerator), processor, ...layout(accelerator.accelerator)];
    return templateHash(facts);
  }

  private means(image: Pick<Image, 'kernel' | 'initrd'>): NonNullable<typeof this.host> {
    this.host ??= this.choose(image).catch((error: unknown) => {
      this.host = null;
      throw error;
    });
    return this.host;
  }

  private async choose(image: Pick<Image, 'kernel' | 'initrd'>) {
    const { accelerator: setting, cacheDir, log } = this.options;
    const emulator = await inspectEmulator();
    const accelerator = await chooseAccelerator({ setting, cacheDir, image, emulatorVersion: emulator.version });
    log.info(
      { emulator: emulator.version, accelerator: accelerator.accelerator, reason: accelerator.reason },
      'emulator',
    );
    return { emulator, accelerator };
  }
}

/** Device state loads where it was saved: by the same QEMU with the same accelerator. */
export function madeWith(emulator: Emulator, accelerator: AcceleratorAnswer): string {
  return `${emulator.version} (${accelerator.accelerator})`;
}

/** The machine's devices: whatever changes here makes older templates unloadable. Paths are not part of it. */
function layout(accelerator: Accelerator): string[] {
  const path = { kernel: '', initrd: '', disk: '', qmpSocket: '' };
  return qemuCommandLine({ ...path, accelerator, name: '', memory: null, tap: '', incoming: false });
}
