/**
 * The emulator that the machine with KVM runs in: Debian's QEMU 10, whatever the host has. QEMU 7.2 runs nested guests some
 * ten times slower (docs/adr/0043-pace-of-a-host.md). Its packages are unpacked in the cache, and nothing is installed.
 */
import { createHash } from 'node:crypto';
import { copyFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Cache, run, type RunContext } from '@lodge/images/tools';

const suite = 'trixie';
const packages = ['qemu-system-x86', 'libc6'];
/** Below /usr: libraries and firmware. */
const places = ['lib/x86_64-linux-gnu', 'share/qemu', 'share/seabios'];
const program = 'qemu-system-x86_64';
const timeoutMs = 10 * 60_000;
const advice = 'Check that apt can download (apt-get update) and that the disk has room, then try again.';

/** The command, to be followed by QEMU's arguments. Finds it in the cache or makes it, which takes seconds and root. */
export async function emulator(
  cacheDir: string,
  progress: (step: string) => void,
  context: RunContext,
): Promise<readonly [string, ...string[]]> {
  const facts = { suite, packages, places };
  const hash = createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 16);
  const cache = new Cache(cacheDir);
  const make = async (draft: string, scratch: string): Promise<typeof facts> => {
    progress('unpacking QEMU');
    const tree = join(scratch, 'tree');
    const include = `--include=${packages.join(',')}`;
    const argv = [
      'mmdebstrap',
      '--variant=extract',
      '--mode=root',
      '--format=directory',
      include,
      suite,
      tree,
    ] as const;
    await run({ argv, env: { TMPDIR: scratch }, timeoutMs, advice, title: 'mmdebstrap', reason: /^E: / }, context);
    for (const place of places) await copyFiles(join(tree, 'usr', place), draft);
    await copyFile(join(tree, 'usr/bin', program), join(draft, program));
    return facts;
  };
  const making = { shelf: 'parts', name: `kvm-emulator-${hash}`, title: 'the emulator', make } as const;
  await cache.ensure(making, progress, context.signal);
  const folder = cache.folderOf(making);
  return [join(folder, 'ld-linux-x86-64.so.2'), '--library-path', folder, join(folder, program), '-L', folder];
}

/** The files of a folder, without the folders in it; links are followed. */
async function copyFiles(from: string, to: string): Promise<void> {
  for (const name of await readdir(from)) {
    const path = join(from, name);
    if (await isFile(path)) await copyFile(path, join(to, name));
  }
}

/** A link that leads nowhere is none. */
function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
