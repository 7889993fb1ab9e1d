/**
 * What of this host makes the walls around agents thinner than Lodge builds them: facts that only whoever runs the host can
 * change. Looks and changes nothing. Not here is what Lodge settles by itself on every host: with KVM guests
 * have no nested virtualisation, and the kernel merges none of their pages.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { missingControllers } from './host/cgroup.ts';
import type { MissingController } from './host/cgroup.ts';
import { expectedAccelerator } from './machine/accelerator.ts';
import type { Accelerator } from './machine/command-line.ts';
import { inspectEmulator } from './machine/emulator.ts';
import type { Emulator } from './machine/emulator.ts';
import type { QemuDriverOptions } from './options.ts';

export interface HostWeakness {
  readonly code: 'memory_unbound' | 'cpu_unbound' | 'template_writable' | 'emulation' | 'processor_flaws';
  /** A sentence on what may happen. */
  readonly message: string;
  /** A sentence on what to do about it. */
  readonly remedy: string;
  /** Whom it lets one agent hurt: the other agents of this host, so other people where there are several accounts, or the host. */
  readonly threatens: 'agents' | 'host';
}

export interface HostFacts {
  readonly missing: readonly MissingController[];
  /** Null where none is installed. */
  readonly emulator: Emulator | null;
  /** What VMs run or will run on; null when it was not tried yet. */
  readonly accelerator: Accelerator | null;
  /** Flaws that the kernel says it does not fully mitigate, by its names for them. */
  readonly processorFlaws: readonly string[];
}

const vulnerabilities = '/sys/devices/system/cpu/vulnerabilities';

export async function hostWeaknesses(
  options: Pick<QemuDriverOptions, 'accelerator' | 'cacheDir'>,
): Promise<readonly HostWeakness[]> {
  const emulator = await inspectEmulator().catch(() => null);
  const [missing, accelerator, processorFlaws] = await Promise.all([
    missingControllers(),
    emulator && expectedAccelerator({ ...options, setting: options.accelerator, emulatorVersion: emulator.version }),
    openFlaws(vulnerabilities),
  ]);
  return weaknessesOf({ missing, emulator, accelerator, processorFlaws });
}

export function weaknessesOf({ missing, emulator, accelerator, processorFlaws }: HostFacts): readonly HostWeakness[] {
  const found: HostWeakness[] = [];
  const lacks = (wanted: MissingController['controller']): boolean =>
    missing.some(({ controller }) => controller === wanted);
  if (lacks('memory')) {
    found.push({
      code: 'memory_unbound',
      message: 'The kernel has no memory controller, so an agent can take 16 GiB of memory, whatever its size.',
      remedy: 'Mount the memory controller at /sys/fs/cgroup.',
      threatens: 'host',
    });
  }
  if (lacks('cpu')) {
    found.push({
      code: 'cpu_unbound',
      message: 'The kernel has no cpu controller, so an agent can use four processors, whatever its size.',
      remedy: 'Mount the cpu controller at /sys/fs/cgroup.',
      threatens: 'host',
    });
  }
  if (emulator && !emulator.mapsReadOnly) {
    found.push({
      code: 'template_writable',
      message:
        'This QEMU is older than 8.2: an agent that breaks out of its virtual machine can write into the memory of the others.',
      remedy: 'Install QEMU 8.2 or newer: Debian 13 has it, Debian 12 in bookworm-backports.',
      threatens: 'agents',
    });
  }
  if (accelerator === 'tcg') {
    found.push({
      code: 'emulation',
      message:
        'Agents run under emulation, which the QEMU project does not count as a wall against hostile guests: user id, sandbox and namespace remain.',
      remedy: 'Use a host with KVM for agents that you do not trust.',
      threatens: 'host',
    });
  } else if (processorFlaws.length > 0) {
    found.push({
      code: 'processor_flaws',
      message: `An agent may read memory of the host by flaws of its processor: ${processorFlaws.join(', ')}.`,
      remedy: 'Update kernel and microcode, and switch SMT off where the kernel names it.',
      threatens: 'host',
    });
  }
  return found;
}

/** The kernel's own judgement: `Vulnerable`, or `SMT vulnerable` beside a mitigation. */
export async function openFlaws(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  const flaws = await Promise.all(
    names
      .toSorted((a, b) => a.localeCompare(b))
      .map(async (name) => {
        const state = await readFile(join(folder, name), 'utf8').catch(() => '');
        return /\bvulnerable\b/i.test(state) ? name : null;
      }),
  );
  return flaws.filter((name) => name !== null);
}
