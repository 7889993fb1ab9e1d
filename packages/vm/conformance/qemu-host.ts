/** A QEMU driver with an instance, a network range and folders of its own, for tests on a host that others use too. */
import { randomInt } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { guestClient } from '@lodge/guest';
import type { Log, VmDriver } from '@lodge/engine/ports';
import { openCgroups } from '../src/qemu/cgroup.ts';
import { createQemuDriver } from '../src/qemu/driver.ts';
import type { QemuDriverOptions } from '../src/qemu/driver.ts';
import { createHostNetwork } from '../src/qemu/network/index.ts';
import type { HostNetwork } from '../src/qemu/network/index.ts';
import { findProcesses } from '../src/qemu/process.ts';
import type { GuestProbe } from './harness.ts';

/** Everything another process needs to be a control plane of the same instance. */
export interface QemuHostSettings {
  readonly dataDir: string;
  readonly cacheDir: string;
  readonly instance: string;
  readonly range: string;
}

const brokerPort = 4000;
const quiet: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

export async function newHostSettings(): Promise<QemuHostSettings> {
  const dataDir = await mkdtemp(join(tmpdir(), 'lodge-vm-'));
  return {
    dataDir,
    cacheDir: join(dataDir, 'cache'),
    instance: `v${randomInt(36 ** 4).toString(36)}`,
    range: `10.${randomInt(150, 200)}.${randomInt(16) * 16}.0/20`,
  };
}

export function networkOf({ instance, range }: QemuHostSettings): HostNetwork {
  return createHostNetwork({ instance, range, brokerPort, resolver: null, log: () => undefined });
}

export function optionsOf(settings: QemuHostSettings): QemuDriverOptions {
  const { dataDir, cacheDir, instance } = settings;
  return {
    dataDir,
    cacheDir,
    instance,
    network: networkOf(settings),
    brokerPort,
    accelerator: 'auto',
    uidBase: 2_000_000_000,
    log: quiet,
  };
}

export function driverOf(settings: QemuHostSettings): VmDriver {
  return createQemuDriver(optionsOf(settings));
}

/** What this instance has on the host outside its folders. */
export async function holdingsOf(settings: QemuHostSettings): Promise<string[]> {
  const { dataDir, cacheDir, instance } = settings;
  const processes = await findProcesses((argument) => argument.includes(`path=${dataDir}/`));
  const cgroups = await openCgroups(instance);
  const drafts = (await readdir(join(cacheDir, 'templates'))).filter((name) => name.startsWith('.'));
  return [
    ...processes.map(({ pid, argv }) => `process ${pid} ${argv[0]}`),
    ...(await networkOf(settings).slots()).map((slot) => `slot ${slot}`),
    ...(await cgroups.names()).map((name) => `control group ${name}`),
    ...drafts.map((name) => `draft ${name}`),
    ...(await readdir(join(dataDir, 'builds'))).map((name) => `build ${name}`),
  ];
}

/** Takes everything of the instance away. */
export async function destroyHost(settings: QemuHostSettings): Promise<void> {
  for (const { pid } of await findProcesses((argument) => argument.includes(`path=${settings.dataDir}/`))) {
    process.kill(pid, 'SIGKILL');
  }
  await networkOf(settings).teardown();
  const cgroups = await openCgroups(settings.instance);
  for (const name of await cgroups.names()) await cgroups.remove(name);
  await cgroups.close();
  await rm(settings.dataDir, { recursive: true, force: true });
}

export function probeGuest({ address }: { readonly address: string }): GuestProbe {
  const guest = guestClient(address);
  const run = async (argv: readonly string[], stdin?: string) =>
    guest.exec({ argv, user: 'root', timeoutMs: 30_000, ...(stdin === undefined ? {} : { stdin }) });
  const write = async (path: string, text: string): Promise<void> => {
    const { exitCode, stderr } = await run(['sh', '-c', `cat > ${path} && sync`], text);
    if (exitCode !== 0) throw new Error(stderr);
  };
  const read = async (path: string): Promise<string | null> => {
    const { exitCode, stdout } = await run(['cat', path]);
    return exitCode === 0 ? stdout : null;
  };
  return {
    answers: () =>
      guest.health({ timeoutMs: 2000 }).then(
        () => true,
        () => false,
      ),
    async machine() {
      const { cpusOnline, memoryTotalMib } = await guest.health();
      return { vcpus: cpusOnline, memoryMib: memoryTotalMib };
    },
    writeFile: (name, text) => write(`/root/${name}`, text),
    readFile: (name) => read(`/root/${name}`),
    remember: (name, text) => write(`/dev/shm/${name}`, text),
    recall: (name) => read(`/dev/shm/${name}`),
  };
}
