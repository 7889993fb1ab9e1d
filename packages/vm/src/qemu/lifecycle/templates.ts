/** The driver's templates: found by their inputs, and made under a lock that holds across processes. */
import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { VmError } from '@lodge/ports';
import type { Image, Template, TemplateBuild, TemplateRequest } from '@lodge/ports';
import { chooseAccelerator } from '../machine/accelerator.ts';
import type { AcceleratorAnswer } from '../machine/accelerator.ts';
import type { Cgroups } from '../host/cgroup.ts';
import { bootVcpus, qemuCommandLine } from '../machine/command-line.ts';
import { architecture } from '../machine/architecture.ts';
import type { Accelerator } from '../machine/architecture.ts';
import { counterKhz, isSameRate } from '../machine/counter-rate.ts';
import type { QemuDriverOptions } from '../options.ts';
import { inspectEmulator } from '../machine/emulator.ts';
import type { Emulator } from '../machine/emulator.ts';
import { processorFacts, savedOn } from '../machine/saved-on.ts';
import type { SavedOn } from '../machine/saved-on.ts';
import { passableFolder } from '../host/files.ts';
import { lock, lockShared, tryLockAlone } from '../host/lock.ts';
import type { VmNumbers } from '../host/vm-numbers.ts';
import { assertTemplateRoom, buildTemplate } from './template-build.ts';
import type { TemplateToGoOnFrom } from './template-build.ts';
import { HostPace } from '../../pace.ts';
import { Holds } from '../saved/holds.ts';
import { OwnTemplates } from '../saved/own-templates.ts';
import { TemplateChecks } from '../saved/template-checks.ts';
import type { StoredTemplate, TemplateShelf } from '../saved/template-shelf.ts';
import { templateHash, TemplateStore } from '../saved/template-store.ts';
import { toVmError } from '../../waiting.ts';
import type { VmHost } from './vm-start.ts';

/**
 * Bound on another process' build. Under emulation it may take most of an hour on a small host; the caller's signal usually
 * ends sooner.
 */
const longestBuildMs = 2 * 60 * 60_000;

interface Toolchain {
  readonly emulator: Emulator;
  readonly accelerator: AcceleratorAnswer;
  /** Rate of the counter of emulated guests, kHz; null where they learn it from their processor. */
  readonly counterKhz: number | null;
}

/** An image by its id, with the parts that show which accelerator works. */
type Kernel = Pick<Image, 'id' | 'kernel' | 'initrd'>;

/** How long a returned template is kept for the caller that is about to use it, whatever the list of kept ones says. */
const handedOutMs = 10 * 60_000;

export class Templates {
  /** The store that the Lodges of this host share. */
  readonly cache: TemplateStore;
  /** The store in the data folder: VMs lie over these alone. */
  readonly own: OwnTemplates;
  readonly buildsRoot: string;
  readonly pace = new HostPace();
  private readonly options: QemuDriverOptions;
  private readonly slots: VmNumbers;
  private readonly held = new Holds();
  private readonly handedOut = new Map<string, number>();
  private host: Promise<Toolchain> | null = null;

  constructor(options: QemuDriverOptions, slots: VmNumbers) {
    this.options = options;
    this.slots = slots;
    const checks = new TemplateChecks();
    this.cache = new TemplateStore(options.cacheDir, options, checks);
    this.own = new OwnTemplates(this.cache, options, checks);
    this.buildsRoot = join(options.dataDir, 'builds');
  }

  /** Looks a template up without a trace. */
  async look(request: TemplateRequest): Promise<Template | null> {
    const hash = await this.hashOf(request);
    const found = hash && ((await this.found(this.own, hash)) ?? (await this.found(this.cache, hash)));
    return found ? found.template : null;
  }

  /** Does the same as `look`. A found template is there for VMs from then on, whatever happens to the cache. */
  async find(request: TemplateRequest): Promise<Template | null> {
    const hash = await this.hashOf(request);
    if (!hash) return null;
    const own = await this.found(this.own, hash);
    if (own) return this.handOut(own.template);
    const cached = await this.found(this.cache, hash);
    return cached && this.taken(cached.template.id);
  }

  async get(id: string): Promise<Template | null> {
    const found = (await this.own.bootable(id)) ?? (await this.cache.bootable(id));
    return found && this.pace.note(found.template);
  }

  /** Returns the template that a VM is started from. Rejects with `template_missing` when that is not possible. */
  async startable(id: string, from: 'clone' | 'boot'): Promise<StoredTemplate> {
    const look = (): Promise<StoredTemplate | null> => (from === 'clone' ? this.own.whole(id) : this.own.bootable(id));
    const found = (await look()) ?? ((await this.own.take(id)) ? await look() : null);
    if (!found) throw new VmError('template_missing', `template ${id} is not there, or not as it was made`);
    this.pace.note(found.template);
    const means = await this.means(found);
    if (from === 'clone' && (found.madeWith !== madeWith(means) || !hasRate(found, means))) {
      const counter = found.counterKhz === null ? '' : ` with a counter of ${found.counterKhz} kHz`;
      const how = `${found.madeWith}${counter}`;
      throw new VmError('template_missing', `template ${id} was saved by ${how} and does not load here`);
    }
    return found;
  }

  /** The newest whole template of that hash, if its clones' clocks are right on this host. */
  private async found(shelf: TemplateShelf, hash: string): Promise<StoredTemplate | null> {
    const found = await shelf.find(hash);
    return found && hasRate(found, await this.means(found)) ? found : null;
  }

  /** Learns the host's pace from the templates of this Lodge. */
  async readPace(): Promise<void> {
    for (const id of await this.own.ids()) this.pace.note(await this.own.manifest(id));
  }

  /** Takes a template of the cache; returns null when it is no longer whole. */
  private async taken(id: string): Promise<Template | null> {
    const release = this.hold(id);
    try {
      const own = (await this.own.take(id)) ? await this.own.whole(id) : null;
      return own && this.handOut(own.template);
    } finally {
      release();
    }
  }

  private handOut(template: Template): Template {
    this.handedOut.set(template.id, performance.now());
    return this.pace.note(template);
  }

  /** Keeps a template from being collected while a VM is made from it that no record names yet. */
  hold(id: string): () => void {
    return this.held.hold(id);
  }

  /** Removes the templates that neither this Lodge nor another on this host needs, with images that only they needed. */
  async collect(keep: ReadonlySet<string>): Promise<readonly string[]> {
    const since = performance.now() - handedOutMs;
    for (const [id, at] of this.handedOut) if (at < since) this.handedOut.delete(id);
    const needs = (id: string): boolean => keep.has(id) || this.held.has(id) || this.handedOut.has(id);
    const own = await this.own.collect(needs);
    const cached = await this.cache.collect(needs);
    for (const { rootDisk } of cached) await this.collectImage(rootDisk);
    const gone = [...new Set([...own, ...cached.map(({ id }) => id)])];
    for (const id of gone) this.options.log.info({ template: id }, 'template removed');
    return gone;
  }

  /**
   * The facts that a VM's device state over that template belongs to: it loads if the key is the same. The rest tells a
   * person why it does not. `hasBrowser`: whether the machine has the device of the browser's disk.
   */
  async stateOf(
    templateId: string,
    hasBrowser: boolean,
  ): Promise<{ readonly stateKey: string; readonly savedOn: SavedOn }> {
    const means = await this.means(await this.kernelOf(templateId));
    const saved = await savedOn(madeWith(means), means.accelerator.accelerator, means.counterKhz);
    return { stateKey: templateHash(await this.stateFacts(means, hasBrowser)), savedOn: saved };
  }

  async emulator(image: Pick<Image, 'kernel' | 'initrd'>): Promise<Emulator> {
    return (await this.means(image)).emulator;
  }

  async accelerator(templateId: string): Promise<Accelerator> {
    return (await this.means(await this.kernelOf(templateId))).accelerator.accelerator;
  }

  /** The common inputs of VMs, once it is known which accelerator works. */
  async vmHost(image: Pick<Image, 'kernel' | 'initrd'>, cgroups: Cgroups): Promise<VmHost> {
    const { network, brokerPort, instance, diskRateFactor = 1, mbitPerVcpu = null } = this.options;
    return { ...(await this.means(image)), network, cgroups, brokerPort, instance, diskRateFactor, mbitPerVcpu };
  }

  async build(build: TemplateBuild, cgroups: Cgroups, signal: AbortSignal): Promise<Template> {
    const early = await this.find(build);
    if (early) return early;
    const hash = await this.hash(build);
    const onBusy = (): void => build.progress('waiting for another process that makes the same template');
    const unlock = await lock(`template ${this.cache.root} ${hash}`, { timeoutMs: longestBuildMs, signal, onBusy });
    try {
      const made = (await this.found(this.cache, hash)) ?? (await this.make(build, hash, cgroups, signal));
      const own = await this.taken(made.template.id);
      if (own) return own;
      throw new VmError('template_missing', `template ${made.template.id} was lost as it was made`);
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
    const unlock = await lockShared(imageLock(build.image.rootDisk), { timeoutMs: longestBuildMs, signal });
    const release = build.from ? this.hold(build.from.id) : null;
    const started = performance.now();
    let slot: number | null = null;
    try {
      const from = build.from ? await this.toGoOnFrom(build.from.id, build.image.id) : null;
      slot = this.slots.claim();
      const { buildsRoot, cache: store } = this;
      // An emptied cache may be gone.
      await passableFolder(this.options.cacheDir);
      await assertTemplateRoom(this.options);
      const work = { host, store, hash, buildsRoot, slot, uid: uidBase + slot, build, from };
      const made = await buildTemplate({ ...work, madeWith: madeWith(host), log: this.options.log }, signal);
      const seconds = Math.round((performance.now() - started) / 1000);
      log.info({ template: made.template.id, seconds, pace: made.template.pace }, 'template made');
      return made;
    } finally {
      if (slot !== null) this.slots.release(slot);
      unlock();
      release?.();
    }
  }

  /** A template goes on only over its own image: a disk's data over one image is not valid over another. */
  private async toGoOnFrom(id: string, imageId: string): Promise<TemplateToGoOnFrom> {
    const stored = await this.startable(id, 'clone');
    const manifest = await this.own.manifest(id);
    if (!manifest || stored.template.imageId !== imageId) {
      throw new VmError('template_missing', `template ${id} is not of the image ${imageId}`);
    }
    return { ...stored, rootDisk: this.own.file(id, 'rootDisk'), madeOver: manifest.rootDisk };
  }

  /** Returns null if nothing of that image is here. */
  private async hashOf({ image, variant }: TemplateRequest): Promise<string | null> {
    const any = (await this.own.ofImage(image.id)) ?? (await this.cache.ofImage(image.id));
    return any && this.hash({ image: { ...any, id: image.id }, variant });
  }

  private async hash({ image, variant }: Pick<TemplateBuild, 'variant'> & { readonly image: Kernel }): Promise<string> {
    return templateHash([image.id, variant, ...(await this.stateFacts(await this.means(image), true))]);
  }

  private async stateFacts(means: Toolchain, hasBrowser: boolean): Promise<string[]> {
    const { accelerator } = means.accelerator;
    const processor = accelerator === 'kvm' ? await processorFacts() : '';
    return [madeWith(means), processor, ...layout(accelerator, means.counterKhz !== null, hasBrowser)];
  }

  private async kernelOf(templateId: string): Promise<Pick<Image, 'kernel' | 'initrd'>> {
    const found = (await this.own.bootable(templateId)) ?? (await this.cache.bootable(templateId));
    if (!found) throw new VmError('template_missing', `template ${templateId} is not there, or not as it was made`);
    return found;
  }

  /** Removes an image of the shared cache that no template lies over any more. It is built again if somebody needs it. */
  private async collectImage(rootDisk: string): Promise<void> {
    const folder = dirname(rootDisk);
    if (dirname(folder) !== join(this.options.cacheDir, 'images')) return;
    // A process that makes a template over the image has the lock.
    const unlock = await tryLockAlone(imageLock(rootDisk));
    if (!unlock) return;
    try {
      if ((await this.cache.rootDisks()).has(rootDisk)) return;
      const gone = join(dirname(folder), `.removed-${basename(folder)}`);
      await rename(folder, gone);
      await rm(gone, { recursive: true, force: true });
    } finally {
      unlock();
    }
  }

  private means(image: Pick<Image, 'kernel' | 'initrd'>): Promise<Toolchain> {
    this.host ??= this.choose(image).catch((error: unknown) => {
      this.host = null;
      throw error;
    });
    return this.host;
  }

  private async choose(image: Pick<Image, 'kernel' | 'initrd'>): Promise<Toolchain> {
    const { accelerator: setting, cacheDir, log } = this.options;
    const emulator = await inspectEmulator();
    const accelerator = await chooseAccelerator({ setting, cacheDir, image, emulatorVersion: emulator.version });
    const isGuessed = accelerator.accelerator === 'tcg' && architecture.counterParameter !== null;
    const rate = isGuessed ? await counterKhz(cacheDir) : null;
    const { reason } = accelerator;
    log.info(
      { emulator: emulator.version, accelerator: accelerator.accelerator, reason, counter_khz: rate },
      'emulator',
    );
    return { emulator, accelerator, counterKhz: rate };
  }
}

/** Device state loads where it was saved: by the same QEMU with the same accelerator. */
function madeWith({ emulator, accelerator }: Toolchain): string {
  return `${emulator.version} (${accelerator.accelerator})`;
}

/**
 * The machine's devices: any change here makes older templates unloadable. Paths are not part of it, nor is the counter's
 * rate, which two hosts measure a little differently (`isSameRate`).
 */
function layout(accelerator: Accelerator, isTold: boolean, hasBrowser: boolean): string[] {
  const path = { kernel: '', initrd: '', disk: '', qmpSocket: '' };
  return qemuCommandLine({
    ...path,
    accelerator,
    counterKhz: isTold ? 0 : null,
    browser: hasBrowser ? { file: null } : null,
    name: '',
    memory: null,
    tap: '',
    credentialDigest: null,
    incoming: false,
    vcpus: bootVcpus,
  });
}

function hasRate(found: StoredTemplate, means: Toolchain): boolean {
  return isSameRate(found.counterKhz, means.counterKhz);
}

function imageLock(rootDisk: string): string {
  return `templates are made over ${rootDisk}`;
}
