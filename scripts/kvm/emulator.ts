/**
 * The emulator that the machine with KVM runs in: Debian's QEMU 10 with two defects mended, whatever the host has
 * (machine/emulator.sh, docs/adr/0052-a-qemu-for-tests-of-kvm.md). It is built once and kept in the cache; nothing is
 * installed.
 */
import { createHash } from 'node:crypto';
import { copyFile, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Cache, run, type RunContext } from '@lodge/images/tools';

const suite = 'trixie';
/** Packages that build it, and Debian's own firmware. */
const packages = [
  'gcc',
  'libc6-dev',
  'dpkg-dev',
  'make',
  'ninja-build',
  'meson',
  'flex',
  'bison',
  'pkg-config',
  'python3',
  'python3-venv',
  'python3-setuptools',
  'python3-wheel',
  'python3-pycotap',
  'libglib2.0-dev',
  'libpixman-1-dev',
  'libfdt-dev',
  'zlib1g-dev',
  'qemu-system-data',
  'seabios',
];
/** Folders below the tree for libraries and firmware. */
const places = ['usr/lib/x86_64-linux-gnu', 'usr/share/qemu', 'usr/share/seabios'];
const built = 'root/source/build/qemu-system-x86_64';
const program = 'qemu-system-x86_64';
const scriptFile = join(import.meta.dirname, 'machine/emulator.sh');
const timeoutMs = 60 * 60_000;
const advice = 'Check that apt can download (apt-get update) and that the disk has room, then try again.';

/** Returns the command, without QEMU's arguments. Finds it in the cache or builds it, which takes some minutes and root. */
export async function emulator(
  cacheDir: string,
  progress: (step: string) => void,
  context: RunContext,
): Promise<readonly [string, ...string[]]> {
  const facts = { suite, packages, places, script: await readFile(scriptFile, 'utf8') };
  const hash = createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 16);
  const cache = new Cache(cacheDir);
  const make = async (draft: string, scratch: string): Promise<typeof facts> => {
    const tree = join(scratch, 'tree');
    progress('building QEMU: some minutes, once');
    await build(tree, scratch, context);
    for (const place of places) await copyFiles(join(tree, place), draft);
    await copyFile(join(tree, built), join(draft, program));
    return facts;
  };
  const making = { shelf: 'parts', name: `kvm-emulator-${hash}`, title: 'the emulator', make } as const;
  await cache.ensure(making, progress, context.signal);
  const folder = cache.folderOf(making);
  return [join(folder, 'ld-linux-x86-64.so.2'), '--library-path', folder, join(folder, program), '-L', folder];
}

/** Builds by mmdebstrap's hooks, which run with mmdebstrap's apt and mounts. */
async function build(tree: string, scratch: string, context: RunContext): Promise<void> {
  const hooks = [
    'sed -n "s/^deb /deb-src /p" "$1/etc/apt/sources.list" > "$1/etc/apt/sources.list.d/source.list"',
    'APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-get update',
    'cd "$1/root" && APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-get source --download-only qemu',
    `cp ${scriptFile} "$1/root/build.sh"`,
    'chroot "$1" sh /root/build.sh',
  ];
  await run(
    {
      argv: [
        ...(['unshare', '--mount', '--pid', '--fork', '--kill-child=KILL', '--mount-proc'] as const),
        'mmdebstrap',
        '--variant=apt',
        '--mode=root',
        '--format=directory',
        '--dpkgopt=force-unsafe-io',
        ...hooks.map((hook) => `--customize-hook=${hook}`),
        `--include=${packages.join(',')}`,
        suite,
        tree,
      ],
      env: { TMPDIR: scratch },
      timeoutMs,
      advice,
      title: 'mmdebstrap',
      reason: /^E: |FAILED: |ERROR: /,
    },
    context,
  );
}

/** Copies the files of a folder, without its folders; links are followed. */
async function copyFiles(from: string, to: string): Promise<void> {
  for (const name of await readdir(from)) {
    const path = join(from, name);
    if (await isFile(path)) await copyFile(path, join(to, name));
  }
}

/** Whether a path is a file. A link that leads nowhere is none. */
function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
