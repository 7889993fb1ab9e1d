/**
 * The disk of a Debian machine in which KVM works. It is kept in the cache, named by its inputs, and contains nothing of the
 * checkout. The machine runs `/job/job.sh` from the disk named `job`, and turns itself off.
 */
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Cache, run, type RunContext } from '@lodge/images/tools';

const suite = 'bookworm';
/** A kernel with KVM's modules, an init, and the packages of a Lodge host (scripts/setup.sh). */
const packages = [
  'linux-image-amd64',
  'systemd-sysv',
  'udev',
  'dbus',
  'sudo',
  'ca-certificates',
  'iproute2',
  'nftables',
  'qemu-system-x86',
  'qemu-utils',
  'mmdebstrap',
  'cpio',
  'e2fsprogs',
  'kmod',
  'procps',
  'util-linux',
  'python3-pip',
  'restic',
  'gpg',
];
const diskGib = 24;
const files = {
  'etc/fstab': 'LABEL=machine / ext4 rw 0 1\nLABEL=job /job ext4 ro 0 0\n',
  'etc/hostname': 'machine\n',
  'etc/hosts': '127.0.0.1 localhost machine\n',
};
const unit = 'lodge-job.service';
/** Bound on the steps that are not Debian's. */
const shortMs = 10 * 60_000;
const bootstrapMs = 40 * 60_000;
const advice = 'Check that apt can download (apt-get update) and that the disk has room, then try again.';

export interface MachineDisk {
  /** A qcow2 file, used under an overlay. */
  readonly disk: string;
  readonly kernel: string;
  readonly initrd: string;
}

/** Finds it in the cache or makes it, which takes some minutes and root. */
export async function machineDisk(
  cacheDir: string,
  progress: (step: string) => void,
  context: RunContext,
): Promise<MachineDisk> {
  const service = await readFile(join(import.meta.dirname, 'machine', unit), 'utf8');
  const facts = { suite, packages, diskGib, files, service };
  const hash = createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 16);
  const cache = new Cache(cacheDir);
  const make = async (draft: string, scratch: string): Promise<typeof facts> => {
    const root = await bootstrap(scratch, progress, context);
    await furnish(root, service);
    const [kernel, initrd] = await Promise.all([bootFile(root, 'vmlinuz-'), bootFile(root, 'initrd.img-')]);
    await rename(kernel, join(draft, 'kernel'));
    await rename(initrd, join(draft, 'initrd'));
    progress('writing its disk');
    await writeDisk(root, join(draft, 'disk.qcow2'), scratch, context);
    return facts;
  };
  const making = { shelf: 'parts', name: `kvm-machine-${hash}`, title: 'the machine with KVM', make } as const;
  await cache.ensure(making, progress, context.signal);
  const folder = cache.folderOf(making);
  return { disk: join(folder, 'disk.qcow2'), kernel: join(folder, 'kernel'), initrd: join(folder, 'initrd') };
}

async function bootstrap(scratch: string, progress: (step: string) => void, context: RunContext): Promise<string> {
  const root = join(scratch, 'root');
  const argv = ['--variant=minbase', '--mode=root', '--format=directory', '--dpkgopt=force-unsafe-io'];
  const include = `--include=${packages.join(',')}`;
  const own = ['unshare', '--mount', '--pid', '--fork', '--kill-child=KILL', '--mount-proc'] as const;
  await run(
    {
      argv: [...own, 'mmdebstrap', ...argv, include, suite, root],
      env: { TMPDIR: scratch },
      timeoutMs: bootstrapMs,
      advice,
      title: 'mmdebstrap',
      reason: /^E: /,
      onLine: (line) => {
        if (line.startsWith('I: ')) progress(`Debian: ${line.slice(3)}`);
      },
    },
    context,
  );
  return root;
}

async function furnish(root: string, service: string): Promise<void> {
  for (const [path, text] of Object.entries(files)) await writeFile(join(root, path), text);
  await mkdir(join(root, 'job'));
  const units = join(root, 'etc/systemd/system');
  await writeFile(join(units, unit), service);
  await mkdir(join(units, 'multi-user.target.wants'), { recursive: true });
  await symlink(`../${unit}`, join(units, 'multi-user.target.wants', unit));
}

async function bootFile(root: string, prefix: string): Promise<string> {
  const name = (await readdir(join(root, 'boot'))).find((entry) => entry.startsWith(prefix));
  if (name === undefined) throw new Error(`the machine's tree has no /boot/${prefix}*`);
  return join(root, 'boot', name);
}

async function writeDisk(root: string, disk: string, scratch: string, context: RunContext): Promise<void> {
  const raw = join(scratch, 'raw');
  const make = ['mke2fs', '-q', '-F', '-t', 'ext4', '-L', 'machine', '-d', root, raw, `${diskGib}G`] as const;
  await run({ argv: make, timeoutMs: shortMs, advice }, context);
  await rm(root, { recursive: true });
  await run({ argv: ['qemu-img', 'convert', '-O', 'qcow2', raw, disk], timeoutMs: shortMs, advice }, context);
}

/** The machine's work: test files of the checkout, a round with a number of agents' lives, or a benchmark and its arguments. */
export type Work =
  | { readonly files: readonly string[] }
  | { readonly lives: number }
  | { readonly benchmark: readonly string[] };

/** Writes a raw disk named `job`: the checkout, the guest images of `images`, and the job. */
export async function writeJobDisk(
  job: {
    readonly disk: string;
    readonly scratch: string;
    readonly checkout: string;
    readonly images: Readonly<Record<string, string>>;
    readonly work: Work;
    /** Whether tests run in their long form. */
    readonly isLong: boolean;
  },
  context: RunContext,
): Promise<void> {
  const tree = join(job.scratch, 'job');
  await mkdir(join(tree, 'cache/images'), { recursive: true });
  for (const [id, folder] of Object.entries(job.images)) {
    await cp(folder, join(tree, 'cache/images', id), { recursive: true });
  }
  const lines = Object.entries(job.work).map(
    ([name, words]) => [name === 'lives' ? 'round' : name, [words].flat()] as const,
  );
  for (const [name, words] of lines) await writeFile(join(tree, name), words.map((word) => `${word}\n`).join(''));
  if (job.isLong) await writeFile(join(tree, 'long'), '');
  for (const name of ['job.sh', 'round.sh']) await cp(join(import.meta.dirname, 'machine', name), join(tree, name));
  const kept = (path: string): boolean => !/\/(?:\.git|\.env|tsconfig\.tsbuildinfo)$/.test(path);
  await cp(job.checkout, join(tree, 'lodge'), { recursive: true, verbatimSymlinks: true, filter: kept });
  const make = ['mke2fs', '-q', '-F', '-t', 'ext4', '-L', 'job', '-d', tree, job.disk, '4G'] as const;
  await run({ argv: make, timeoutMs: shortMs, advice }, context);
  await rm(tree, { recursive: true });
}
