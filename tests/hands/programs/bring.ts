/** `gh` as Debian has it, kept in the cache where this machine has none. */
import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const options = { timeout: 10 * 60_000 };
const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** The folder of the program. */
export async function ghFolder(): Promise<string> {
  const own = await run('sh', ['-c', 'dirname "$(command -v gh)"']).catch(() => null);
  if (own !== null && own.stdout.trim() !== '.') return own.stdout.trim();
  const cache = join(process.env['LODGE_CACHE_DIR'] ?? '/var/cache/lodge', 'test-programs');
  const folder = join(cache, 'gh-debian');
  const bin = join(folder, 'usr/bin');
  if (await isThere(join(bin, 'gh'))) return bin;
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, 'draft-'));
  try {
    const download = () => run('apt-get', ['-qq', 'download', 'gh'], { ...options, cwd: draft });
    await download().catch(async () => {
      await run('apt-get', ['-qq', 'update'], options);
      await download();
    });
    const archive = (await readdir(draft)).find((name) => name.endsWith('.deb'))!;
    await run('dpkg-deb', ['-x', join(draft, archive), draft], options);
    await rm(join(draft, archive));
    // An earlier process may have brought it.
    await rename(draft, folder).catch(() => undefined);
    return bin;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
