/**
 * The facts of a host when device state was saved on it, to explain why it does not load. Under emulation the processor has
 * no part in it, as the emulated one is the same on every host, but for the rate of its counter.
 *
 * Another emulator, accelerator or processor is another machine for the guest, so its state is not loaded. Other microcode
 * or another host kernel is not, as long as the processor offers the same: hosts are updated, and the state is tried.
 */
import { readFile } from 'node:fs/promises';
import { release } from 'node:os';
import { createHash } from 'node:crypto';
import type { Accelerator } from './architecture.ts';
import { isSameRate } from './counter-rate.ts';

export interface SavedOn {
  /** Version line and accelerator. */
  readonly madeWith: string;
  /** Set under KVM alone, else null. */
  readonly processor: HostProcessor | null;
  /** Rate of the guest's counter, kHz; null or absent where its processor tells it. */
  readonly counterKhz?: number | null;
}

export interface HostProcessor {
  /** The model's name, for a person. */
  readonly model: string;
  /** A digest of model and features: everything that a guest can see of it. */
  readonly features: string;
  readonly microcode: string;
  /** The host's kernel. */
  readonly kernel: string;
}

export async function savedOn(
  madeWith: string,
  accelerator: Accelerator,
  counterKhz: number | null = null,
): Promise<SavedOn> {
  return { madeWith, processor: accelerator === 'kvm' ? hostProcessor(await cpuInfo()) : null, counterKhz };
}

/** Model and features of the host's processor: device state saved on one may not load on another. */
export async function processorFacts(): Promise<string> {
  return factsOf(await cpuInfo());
}

export function hostProcessor(text: string, kernel = release()): HostProcessor {
  const features = createHash('sha256').update(factsOf(text)).digest('hex').slice(0, 16);
  const value = (name: string): string => line(text, name).split(':')[1]?.trim() || 'unknown';
  const model = ['model name', 'CPU part'].map(value).find((found) => found !== 'unknown') ?? 'unknown';
  return { model, features, microcode: value('microcode'), kernel };
}

/**
 * Says in words how this host differs from the saved one, so that the state does not load. Null if no difference is known.
 */
export function foreign(saved: SavedOn | undefined, here: SavedOn): string | null {
  if (saved === undefined) return null;
  if (saved.madeWith !== here.madeWith) return `it was saved by ${saved.madeWith}, and this host has ${here.madeWith}`;
  const [rate, rateHere] = [saved.counterKhz ?? null, here.counterKhz ?? null];
  if (!isSameRate(rate, rateHere)) return `its counter ran at ${rate} kHz, and this host's runs at ${rateHere} kHz`;
  const [was, is] = [saved.processor, here.processor];
  if (was === null || is === null || was.features === is.features) return null;
  return was.model === is.model
    ? `the ${is.model} of this host offers other features than where it was saved`
    : `it was saved on ${was.model}, and this host has ${is.model}`;
}

/** Says in words what was updated since, which does not prevent a try. Null if nothing was. */
export function updated(saved: SavedOn | undefined, here: SavedOn): string | null {
  const [was, is] = [saved?.processor, here.processor];
  if (!was || !is) return null;
  const changes = (['microcode', 'kernel'] as const).filter((name) => was[name] !== is[name]);
  return changes.length === 0 ? null : changes.map((name) => `${name} ${was[name]} to ${is[name]}`).join(', ');
}

/** The names in the kernel's /proc/cpuinfo: x86, and ARM, which has no name for a model. */
const x86Facts = ['vendor_id', 'cpu family', 'model', 'model name', 'flags'];
const armFacts = ['CPU implementer', 'CPU architecture', 'CPU variant', 'CPU part', 'CPU revision', 'Features'];

function factsOf(text: string): string {
  const names = line(text, 'CPU implementer') === '' ? x86Facts : armFacts;
  return names.map((name) => line(text, name)).join('\n');
}

function line(text: string, name: string): string {
  return text.split('\n').find((each) => each.split(':', 1)[0]!.trim() === name) ?? '';
}

function cpuInfo(): Promise<string> {
  return readFile('/proc/cpuinfo', 'utf8');
}
