/**
 * Pythons of this machine, and what the Python SDK's tests need in each: exact versions with their hashes, installed by pip into
 * the cache, once for each list and Python.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readFile, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const sdkFolder = new URL('../../../packages/sdk-python', import.meta.url).pathname;
const requirements = join(sdkFolder, 'tests/requirements.txt');
const pyenv = '/root/.pyenv/versions';
/** Versions that the SDK promises to work with. */
export const promised = ['3.10', '3.11', '3.12', '3.13'] as const;
const runMs = 10 * 60_000;

export interface Python {
  /** The interpreter itself. A shim of pyenv in its place would run pyenv's own work, under its locks, after each `pip install`. */
  readonly program: string;
  /** As it tells it itself, `3.11.7`. */
  readonly version: string;
}

export interface Run {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const call = promisify(execFile);

/** Runs a program; an error has what it printed. */
export async function run(program: string, args: readonly string[], { cwd, env }: Run = {}): Promise<string> {
  const variables = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PIP_DISABLE_PIP_VERSION_CHECK: '1', ...env };
  try {
    const { stdout } = await call(program, args, { cwd, env: variables, timeout: runMs, maxBuffer: 64 * 2 ** 20 });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(' ')}\n${stdout}\n${stderr}`.slice(-20_000), { cause: error });
  }
}

/** The machine's own Python. */
export async function ownPython(): Promise<Python> {
  return (await pythonAt('python3'))!;
}

/** Those of the promised versions that are on this machine. */
export async function foundPythons(): Promise<readonly Python[]> {
  const kept = await readdir(pyenv).catch(() => []);
  const found = await Promise.all(
    promised.map(async (version) => {
      const folder = kept.find((name) => name.startsWith(`${version}.`));
      const own = folder === undefined ? null : await pythonAt(join(pyenv, folder, 'bin/python3'));
      return own ?? (await pythonAt(`python${version}`));
    }),
  );
  return found.filter((python) => python !== null);
}

async function pythonAt(name: string): Promise<Python | null> {
  try {
    const text = 'import sys; print(sys.executable, ".".join(map(str, sys.version_info[:3])))';
    const [program, version] = (await run(name, ['-c', text])).trim().split(' ') as [string, string];
    return { program, version };
  } catch {
    return null;
  }
}

/** The folder with the packages of a list, which is that of the SDK's tests unless another is given. */
export async function packagesFor({ program, version }: Python, list = requirements): Promise<string> {
  const wanted = createHash('sha256')
    .update(version)
    .update(await readFile(list));
  const parts = join(process.env['LODGE_CACHE_DIR'] ?? '/var/cache/lodge', 'parts');
  const folder = join(parts, `sdk-python-${wanted.digest('hex').slice(0, 16)}`);
  const isThere = await access(folder).then(
    () => true,
    () => false,
  );
  if (isThere) return folder;
  await mkdir(parts, { recursive: true });
  const draft = await mkdtemp(join(parts, 'draft-sdk-python-'));
  try {
    const pip = ['-m', 'pip', 'install', '--quiet', '--only-binary=:all:', '--require-hashes', '--target', draft];
    await run(program, [...pip, '-r', list]);
    // A second run that installed at the same time may have been faster.
    await rename(draft, folder).catch(() => undefined);
    return folder;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
