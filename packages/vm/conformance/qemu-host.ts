/** A QEMU driver with its own instance, network range and folders, for tests on a host that others use too. */
import { randomInt } from 'node:crypto';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, stat, statfs, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { dialTo, guestClient, guestdPort, GuestError } from '@lodge/guest';
import { browserDiskBytes } from '@lodge/ports';
import type { BrowserDiskBuilder, Template, TemplateBuild, VmDriver } from '@lodge/ports';
import { openCgroups } from '../src/qemu/host/cgroup.ts';
import { entries } from '../src/qemu/host/files.ts';
import { createQemuDriver } from '../src/qemu/driver.ts';
import type { QemuDriverOptions } from '../src/qemu/options.ts';
import { createHostNetwork } from '../src/qemu/network/index.ts';
import type { HostNetwork } from '../src/qemu/network/index.ts';
import { findProcesses } from '../src/qemu/host/process.ts';
import type { FoundProcess } from '../src/qemu/host/process.ts';
import { qmpArgument } from '../src/qemu/machine/command-line.ts';
import { RunDirectory } from '../src/qemu/saved/run-directory.ts';
import { patience, wantedAccelerator, watchingLog } from './accelerator.ts';
import { baseImage, sharedCacheDir } from './base-image.ts';
import { browserSerial } from '../src/qemu/machine/browser-device.ts';
import { browserText } from './harness.ts';
import type { GuestProbe } from './harness.ts';

/** Everything that another process needs to be a control plane of the same instance. */
export interface QemuHostSettings {
  readonly dataDir: string;
  readonly cacheDir: string;
  readonly instance: string;
  readonly range: string;
}

const run = promisify(execFile);
const brokerPort = 4000;

export async function newHostSettings(): Promise<QemuHostSettings> {
  const dataDir = await mkdtemp(join(tmpdir(), 'lodge-vm-'));
  await mkdir(join(dataDir, 'vms'));
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
    accelerator: wantedAccelerator ?? 'auto',
    browserDisk: plainDisk(cacheDir),
    diskFloorMib: 512,
    uidBase: 2_000_000_000,
    // The guests of tests are trusted.
    unboundMemory: 'allow',
    log: watchingLog(dataDir),
  };
}

/** A builder of a disk without a browser: its size, and a text. */
function plainDisk(cacheDir: string): BrowserDiskBuilder {
  const id = async () => 'plain';
  const ensure = async () => {
    const path = join(cacheDir, 'browser.ext4');
    await writeFile(path, browserText);
    await truncate(path, browserDiskBytes);
    return { id: await id(), path };
  };
  return { id, find: async () => null, ensure };
}

export function driverOf(settings: QemuHostSettings): VmDriver {
  return createQemuDriver(optionsOf(settings));
}

/**
 * The template that test files share, in the cache of all Lodges of this host: the first one makes it. It is for tests about
 * other things than making a template, and saves each file a boot.
 */
export async function sharedTemplate(): Promise<TemplateBuild> {
  const prepare = () => Promise.resolve({ token: 'template-token' });
  const image = await baseImage();
  return { image, variant: 'shared-by-tests', brokerPort: 4001, progress: () => undefined, prepare };
}

/** Takes the shared template into the host's own templates. Call it before the first driver starts. */
export async function takeSharedTemplate(settings: QemuHostSettings): Promise<Template> {
  const driver = driverOf({ ...settings, cacheDir: sharedCacheDir });
  await driver.start();
  try {
    return await driver.buildTemplate(await sharedTemplate(), new AbortController().signal);
  } finally {
    await driver.stop();
  }
}

export function emulatorsOf({ dataDir }: QemuHostSettings, agentId: string): Promise<FoundProcess[]> {
  const argument = qmpArgument(join(dataDir, 'vms', agentId, 'qmp'));
  return findProcesses((candidate) => candidate === argument);
}

/** Everything that this instance has on the host outside its folders. */
export async function holdingsOf(settings: QemuHostSettings): Promise<string[]> {
  const { dataDir, cacheDir, instance } = settings;
  const processes = await findProcesses((argument) => argument.includes(`path=${dataDir}/`));
  const cgroups = await openCgroups(instance);
  const drafts = (await entries(join(cacheDir, 'templates'))).filter((name) => name.startsWith('.'));
  return [
    ...processes.map(({ pid, argv }) => `process ${pid} ${argv[0]}`),
    ...(await networkOf(settings).slots()).map((slot) => `slot ${slot}`),
    ...(await cgroups.names()).map((name) => `control group ${name}`),
    ...drafts.map((name) => `draft ${name}`),
    ...(await readdir(join(dataDir, 'builds'))).map((name) => `build ${name}`),
  ];
}

/** Gives VMs and saved machines a disk of their own that can be filled. Call it before the first driver starts. */
export async function mountVms({ dataDir }: QemuHostSettings): Promise<void> {
  const disk = join(dataDir, 'disk');
  await mkdir(disk);
  await run('mount', ['-t', 'tmpfs', '-o', 'size=3g,mode=0711', 'lodge-vms', disk]);
  await rm(join(dataDir, 'vms'), { recursive: true });
  for (const name of ['vms', 'saved']) {
    await mkdir(join(disk, name), { mode: 0o711 });
    await symlink(join(disk, name), join(dataDir, name));
  }
}

/** Runs `work` while that disk has room for `leftBytes` more and nothing else. */
export async function whileVmsAreFull(
  { dataDir }: QemuHostSettings,
  leftBytes: number,
  work: () => Promise<void>,
): Promise<void> {
  const filler = join(dataDir, 'vms', 'FILLER');
  try {
    // A VM goes on writing, and 3 GiB take a second to lay: the rest is laid within milliseconds of its being counted.
    for (const sparedBytes of [64 << 20, 1 << 20, 0]) {
      const { bavail, bsize } = await statfs(join(dataDir, 'vms'));
      const bytes = bavail * bsize - leftBytes - sparedBytes;
      const { size } = await stat(filler).catch(() => ({ size: 0 }));
      if (bytes > 0) await run('fallocate', ['-o', String(size), '-l', String(bytes), filler]);
    }
    await work();
  } finally {
    await rm(filler, { force: true });
  }
}

/** Takes the whole instance away. */
export async function destroyHost(settings: QemuHostSettings): Promise<void> {
  for (const { pid } of await findProcesses((argument) => argument.includes(`path=${settings.dataDir}/`))) {
    process.kill(pid, 'SIGKILL');
  }
  await networkOf(settings).teardown();
  const cgroups = await openCgroups(settings.instance);
  for (const name of await cgroups.names()) await cgroups.remove(name);
  await cgroups.close();
  await run('umount', [join(settings.dataDir, 'disk')]).catch(() => undefined);
  await rm(settings.dataDir, { recursive: true, force: true });
}

/** The recorded credential of the VM at an address; null for a template's guest, which has none. */
async function credentialAt(dataDir: string, address: string): Promise<string | null> {
  for (const name of await readdir(join(dataDir, 'vms'))) {
    const record = await new RunDirectory(join(dataDir, 'vms'), 'any', name).read().catch(() => null);
    if (record?.address === address) return record.credential ?? null;
  }
  return null;
}

/** Prints the beginning of the disk of that name, without zeroes. */
const findBrowserDisk = `for disk in /sys/block/vd*; do
  if [ "$(cat $disk/serial)" = ${browserSerial} ]; then head -c 64 "/dev/$(basename "$disk")" | tr -d '\\000'; fi
done`;

const identityOf = 'uname -n; cat /etc/machine-id /run/lodge/generation /proc/sys/kernel/random/uuid';
/** Bound until a command has run in a guest whose processes run. */
const actsWithinMs = 5_000;

export function probeGuest(
  { dataDir }: Pick<QemuHostSettings, 'dataDir'>,
  { address }: { readonly address: string },
): GuestProbe & {
  /** Fills the guest's memory with so many MiB that do not compress. */
  fill(mib: number): Promise<void>;
  /** Returns the output of a script that root runs. */
  shell(script: string): Promise<string>;
} {
  const guest = guestClient({ dial: dialTo(address), credential: () => credentialAt(dataDir, address) });
  const run = async (argv: readonly string[], stdin?: string) =>
    guest.exec({ argv, user: 'root', timeoutMs: 300_000, ...(stdin === undefined ? {} : { stdin }) });
  const write = async (path: string, text: string): Promise<void> => {
    const { exitCode, stderr } = await run(['sh', '-c', `cat > ${path} && sync`], text);
    if (exitCode !== 0) throw new Error(stderr);
  };
  const read = async (path: string): Promise<string | null> => {
    return guest.readFile(path).then(
      (bytes) => Buffer.from(bytes).toString('utf8'),
      (error: unknown) => {
        if (error instanceof GuestError && error.status === 404) return null;
        throw error;
      },
    );
  };
  return {
    admits: (credential) =>
      guestClient({ dial: dialTo(address), credential: () => Promise.resolve(credential) })
        .health({ timeoutMs: 5000 })
        .then(
          () => true,
          (error: unknown) => {
            if (error instanceof GuestError && error.status === 401) return false;
            throw error;
          },
        ),
    answers: () =>
      guest.health({ timeoutMs: 2000 }).then(
        () => true,
        () => false,
      ),
    async machine() {
      const { cpusOnline, memoryTotalMib } = await guest.health();
      return { vcpus: cpusOnline, memoryMib: memoryTotalMib };
    },
    writeFile: (name, text) => write(`/srv/${name}`, text),
    readFile: (name) => read(`/srv/${name}`),
    async pack() {
      return readAll(await guest.readTree(['/srv'], { signal: AbortSignal.timeout(60_000 * patience) }));
    },
    remember: (name, text) => write(`/dev/shm/${name}`, text),
    recall: (name) => read(`/dev/shm/${name}`),
    async identity() {
      const { stdout } = await run(['sh', '-c', identityOf]);
      return stdout.trim().split('\n');
    },
    async acts() {
      // A process that begins while the others are frozen is frozen a moment later, and waits with them.
      const command = { argv: ['sleep', '1'], user: 'root', timeoutMs: 300_000 } as const;
      return guest.exec(command, { timeoutMs: actsWithinMs * patience }).then(
        () => true,
        (error: unknown) => {
          if (error instanceof GuestError && error.status === null) return false;
          throw error;
        },
      );
    },
    async print(text) {
      // The command ends when the last byte has left the guest.
      const drain = "perl -MPOSIX -e 'POSIX::tcdrain(1)'";
      const { exitCode, stderr } = await run(['sh', '-c', `(cat; ${drain}) > /dev/console`], text);
      if (exitCode !== 0) throw new Error(stderr);
    },
    async fill(mib) {
      const { exitCode, stderr } = await run(['sh', '-c', `head -c ${mib}M /dev/urandom > /dev/shm/filled`]);
      if (exitCode !== 0) throw new Error(stderr);
    },
    async shell(script) {
      const { exitCode, stdout, stderr } = await run(['sh', '-c', script]);
      if (exitCode !== 0) throw new Error(stderr);
      return stdout;
    },
    async browserDisk() {
      const { stdout } = await run(['sh', '-c', findBrowserDisk]);
      return stdout;
    },
    port: () => Promise.resolve(guestdPort),
    clock: async () => Number((await run(['date', '+%s%3N'])).stdout),
  };
}
