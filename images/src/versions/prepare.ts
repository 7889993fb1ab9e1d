/**
 * Makes the recipe of another version of a runtime: Lodge's own recipe with the version's packages, locked by version and
 * hash as the registry gives them now. No code of a package runs. An edit of the recipe that does not fit the version is
 * found here, before anything is built.
 */
import { cp, glob, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { guestProcessor } from '@lodge/ports';
import type { RuntimeSource } from '@lodge/ports';
import { ImageError } from '../errors.ts';
import { guestWheels, requirementsFile } from '../python.ts';
import { readLayers, type Layer } from '../recipe.ts';
import { run, type RunContext } from '../run.ts';
import { adapt, missingEdits, type Adaptation } from './edits.ts';
import type { InstalledVersions, VersionFailure } from './installed.ts';
import { npmFailure, pipFailure } from './registries.ts';

export interface VersionWanted {
  readonly runtime: string;
  readonly source: RuntimeSource;
  readonly version: string;
  /** A file as in `images/adapted` that replaces the one there; with null that one is used, if any. */
  readonly adaptationFile: string | null;
}

export interface PrepareOptions {
  readonly installed: InstalledVersions;
  /** Folder of Lodge's own recipes; by default those of this package. */
  readonly sourceDir?: string;
}

/** Thrown for an obstacle in the version itself, and not in this program. */
export class VersionError extends ImageError {
  readonly step: VersionFailure['step'];
  constructor(step: VersionFailure['step'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.step = step;
  }
}

const resolveMs = 30 * 60_000;
const shortMs = 5 * 60_000;

/** Publishes the recipe in place of any earlier one of that version. Rejects with `VersionError`; then there is none. */
export async function prepareVersion(
  { installed, sourceDir = join(import.meta.dirname, '..', '..') }: PrepareOptions,
  wanted: VersionWanted,
  context: RunContext,
): Promise<void> {
  const { runtime, version, source } = wanted;
  const layers = await readLayers(sourceDir, runtime);
  const layer = layers.at(-1)!;
  await mkdir(installed.folder, { recursive: true, mode: 0o755 });
  const scratch = await mkdtemp(join(installed.folder, '.preparing-'));
  try {
    const draft = join(scratch, 'recipe');
    await cp(layer.folder, draft, { recursive: true });
    const own = join(scratch, 'package');
    await mkdir(own);
    const take = source.registry === 'npm' ? takeFromNpm : takeFromPypi;
    await take({ source, version, layer, draft, own, scratch }, context).catch((error: unknown) => {
      if (!(error instanceof ImageError)) throw error;
      throw new VersionError('packages', error.message, { cause: error });
    });
    await adaptRecipe(draft, own, source, await readAdaptation(sourceDir, wanted));
    await installed.publish(runtime, version, draft);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Removes leftovers of killed preparations and tests. Nobody else prepares meanwhile. */
export async function collectUnfinished(installed: InstalledVersions): Promise<void> {
  for await (const name of glob('.{preparing,testing}-*', { cwd: installed.folder })) {
    await rm(join(installed.folder, name), { recursive: true, force: true });
  }
}

async function readAdaptation(
  sourceDir: string,
  { runtime, version, adaptationFile }: VersionWanted,
): Promise<Adaptation> {
  const path = adaptationFile ?? join(sourceDir, 'adapted', runtime, `${version}.json`);
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Adaptation;
  } catch (error) {
    if (adaptationFile === null && (error as NodeJS.ErrnoException).code === 'ENOENT') return { instead: [] };
    throw new ImageError(`${path} cannot be read as an adaptation: ${(error as Error).message}`, { cause: error });
  }
}

async function adaptRecipe(
  draft: string,
  own: string,
  { registry }: RuntimeSource,
  adaptation: Adaptation,
): Promise<void> {
  const path = join(draft, 'recipe.json');
  const recipe = JSON.parse(await readFile(path, 'utf8')) as Pick<Layer, 'npm' | 'python'>;
  const part = registry === 'npm' ? 'npm' : 'python';
  const edits = adapt(recipe[part]?.replace ?? [], adaptation);
  const missing = await missingEdits(own, edits);
  if (missing.length > 0) {
    const count = `${missing.length} of the ${edits.length} changes that Lodge makes to it have no place in this version`;
    throw new VersionError('edits', `${count}:\n${missing.map((each) => `  ${each}`).join('\n')}`);
  }
  if (adaptation.instead.length === 0) return;
  const adapted = { ...recipe, [part]: { ...recipe[part], replace: edits } };
  await writeFile(path, `${JSON.stringify(adapted, null, 2)}\n`);
}

interface Taking {
  readonly source: RuntimeSource;
  readonly version: string;
  readonly layer: Layer;
  /** Receives the lock file. */
  readonly draft: string;
  /** Receives the files of the runtime's own package, as an image has them. */
  readonly own: string;
  readonly scratch: string;
}

async function takeFromPypi(taking: Taking, context: RunContext): Promise<void> {
  const { source, version, layer, draft, own, scratch } = taking;
  const target = guestWheels(layer.python!.version);
  const quiet = ['--quiet', '--no-input', '--disable-pip-version-check', `--cache-dir=${join(scratch, 'pip-cache')}`];
  const wanted = `${source.package}[${(source.extras ?? []).join(',')}]==${version}`;
  const dry = ['--dry-run', '--ignore-installed', `--target=${join(scratch, 'nowhere')}`, '--report=-'];
  const tool = { timeoutMs: resolveMs, ...pipFailure };
  const report = await run({ argv: ['pip3', 'install', ...dry, ...target, ...quiet, wanted], ...tool }, context);
  await writeFile(join(draft, requirementsFile), requirementsOf(report));
  const wheels = join(scratch, 'wheels');
  const own1 = ['--no-deps', `--dest=${wheels}`, `${source.package}==${version}`];
  await run({ argv: ['pip3', 'download', ...target, ...quiet, ...own1], ...tool }, context);
  for await (const wheel of glob('*.whl', { cwd: wheels })) {
    await run({ argv: ['python3', '-m', 'zipfile', '--extract', join(wheels, wheel), own], ...unpacking }, context);
  }
}

/** Converts pip's report (https://pip.pypa.io/en/stable/reference/installation-report) to requirements with hashes. */
export function requirementsOf(report: string): string {
  const { install } = JSON.parse(report) as { readonly install: readonly ReportedPackage[] };
  const lines = install.map(({ metadata: { name, version }, download_info: { archive_info: archive } }) => {
    const sha256 = archive?.hashes?.['sha256'];
    if (sha256 === undefined) throw new ImageError(`the index gives no SHA-256 for ${name} ${version}`);
    return `${name.toLowerCase().replaceAll(/[-_.]+/g, '-')}==${version} \\\n    --hash=sha256:${sha256}\n`;
  });
  return lines.sort().join('');
}

interface ReportedPackage {
  readonly metadata: { readonly name: string; readonly version: string };
  readonly download_info: { readonly archive_info?: { readonly hashes?: Readonly<Record<string, string>> } };
}

const unpacking = { timeoutMs: shortMs, advice: 'Check that the disk has room.' };

async function takeFromNpm({ source, version, draft, own, scratch }: Taking, context: RunContext): Promise<void> {
  const path = join(draft, 'package.json');
  const project = JSON.parse(await readFile(path, 'utf8')) as { dependencies: Record<string, string> };
  project.dependencies = { ...project.dependencies, [source.package]: version };
  await writeFile(path, `${JSON.stringify(project, null, 2)}\n`);
  await rm(join(draft, 'package-lock.json'), { force: true });
  const quiet = [
    '--no-audit',
    '--no-fund',
    '--no-progress',
    '--loglevel=warn',
    `--cache=${join(scratch, 'npm-cache')}`,
  ];
  const guest = ['--os=linux', `--cpu=${guestProcessor}`, '--libc=glibc', '--omit=dev', '--ignore-scripts'];
  const lock = ['--package-lock-only', '--omit-lockfile-registry-resolved', ...guest];
  const env = { npm_config_local_prefix: undefined, npm_config_workspace: undefined, npm_config_workspaces: undefined };
  const tool = { timeoutMs: resolveMs, env, ...npmFailure };
  await run({ argv: ['npm', 'install', ...lock, ...quiet], cwd: draft, ...tool }, context);
  const packed = join(scratch, 'packed');
  await mkdir(packed);
  const pack = ['--ignore-scripts', `--pack-destination=${packed}`, `${source.package}@${version}`];
  await run({ argv: ['npm', 'pack', ...pack, ...quiet], cwd: scratch, ...tool }, context);
  for await (const archive of glob('*.tgz', { cwd: packed })) {
    await run({ argv: ['tar', '--extract', '--file', join(packed, archive), '-C', packed], ...unpacking }, context);
  }
  await mkdir(dirname(join(own, source.package)), { recursive: true });
  await rename(join(packed, 'package'), join(own, source.package));
}
