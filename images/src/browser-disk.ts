/**
 * The browser's disk: a whole Debian root with Chromium, its libraries and fonts, as a file of one read-only ext4. It holds
 * all that the browser needs, so it fits the guests of every runtime and of every later release
 * (docs/adr/0080-a-browser.md).
 *
 *   <cacheDir>/browser/<id>/browser-<random>.ext4
 *
 * It is Debian as the guests' own, with other packages. Lodge takes what Debian's sources offer when it is built, and builds
 * it anew after four weeks, for a browser needs its security updates.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { browserDiskBytes, hasGuestsHere } from '@lodge/ports';
import type { BrowserDiskBuilder, BrowserDiskFile, Log, ReportProgress } from '@lodge/ports';
import type { Artifact, Facts } from './artifact.ts';
import { Cache } from './cache.ts';
import { debianFiles, makeDebian } from './debian.ts';
import { ImageError } from './errors.ts';
import { browserDiskId } from './identity.ts';
import { foundation, readLayers, type DebianRecipe, type Layer } from './recipe.ts';
import { run, type RunContext } from './run.ts';
import { makeTree } from './tree.ts';

export interface BrowserDiskOptions {
  /** The cache of the images. */
  readonly cacheDir: string;
  /** Folder of the recipes; by default those of this package. */
  readonly sourceDir?: string;
  /** Milliseconds since 1970; default: the host's clock. */
  readonly now?: () => number;
  readonly log: Log;
}

const shelf = 'browser';
const diskMs = 15 * 60_000;
const periodMs = 28 * 24 * 60 * 60_000;

/** `ensure` needs root, and rejects with `ImageError` when a build cannot go on. */
export function createBrowserDiskBuilder(options: BrowserDiskOptions): BrowserDiskBuilder {
  return new RecipeBrowserDisk(options);
}

interface Recipe {
  readonly layer: Layer;
  readonly debian: DebianRecipe;
}

class RecipeBrowserDisk implements BrowserDiskBuilder {
  private readonly options: BrowserDiskOptions;
  private readonly cache: Cache;
  private recipe: Promise<Recipe> | null = null;

  constructor(options: BrowserDiskOptions) {
    this.options = options;
    this.cache = new Cache(options.cacheDir);
  }

  async id(): Promise<string> {
    const { layer, debian } = await this.read();
    const period = Math.floor((this.options.now ?? Date.now)() / periodMs);
    return browserDiskId(layer, debian, period);
  }

  async find(): Promise<BrowserDiskFile | null> {
    const id = await this.id();
    const artifact = await this.cache.find({ shelf, name: id });
    return artifact && this.fileOf(id, artifact);
  }

  async ensure(progress: ReportProgress, signal: AbortSignal): Promise<BrowserDiskFile> {
    const early = await this.find();
    if (early !== null) return early;
    if (process.getuid?.() !== 0) throw new ImageError('building the disk of the browser needs root');
    if (!hasGuestsHere) throw new ImageError(`there is no browser for ${process.arch}`);
    await this.cache.collectDrafts();
    const [id, recipe] = await Promise.all([this.id(), this.read()]);
    const context = { log: this.options.log, signal };
    const startedAt = performance.now();
    const make = (draft: string, scratch: string): Promise<Facts> =>
      makeBrowserDisk(recipe, draft, scratch, progress, context);
    const artifact = await this.cache.ensure({ shelf, name: id, title: 'the browser', make }, progress, signal);
    const ms = Math.round(performance.now() - startedAt);
    this.options.log.info({ browser: id, ms }, 'the disk of the browser is built');
    await this.removeOthers(id);
    return this.fileOf(id, artifact);
  }

  private read(): Promise<Recipe> {
    this.recipe ??= this.readRecipe();
    return this.recipe;
  }

  private async readRecipe(): Promise<Recipe> {
    const sourceDir = this.options.sourceDir ?? join(import.meta.dirname, '..');
    const [[layer], base] = await Promise.all([readLayers(sourceDir, 'browser'), readLayers(sourceDir, 'base')]);
    // A kernel comes with it, and is left out.
    return { layer, debian: { ...foundation(base).debian, packages: layer.packages ?? [], modules: [] } };
  }

  /** Every Lodge has a link or a copy of the disks that it uses. */
  private async removeOthers(id: string): Promise<void> {
    const folder = join(this.options.cacheDir, shelf);
    for (const name of await readdir(folder)) {
      if (name !== id) await rm(join(folder, name), { recursive: true, force: true });
    }
  }

  private fileOf(id: string, { files }: Artifact): BrowserDiskFile {
    const folder = this.cache.folderOf({ shelf, name: id });
    const [name] = Object.keys(files);
    if (name === undefined) throw new ImageError(`there is no disk in ${folder}; remove the folder`);
    return { id, path: join(folder, name) };
  }
}

async function makeBrowserDisk(
  { layer, debian }: Recipe,
  draft: string,
  scratch: string,
  progress: ReportProgress,
  context: RunContext,
): Promise<Facts> {
  const debianFolder = join(scratch, 'debian');
  const mounts = join(scratch, 'mounts');
  for (const folder of [debianFolder, mounts]) await mkdir(folder);
  const facts = await makeDebian(debian, debianFolder, mounts, (step, at = 0) => progress(step, at * 0.8), context);
  progress('putting the browser together', 0.8);
  const root = join(scratch, 'root');
  const tars = new Map([[layer.name, { debian: join(debianFolder, debianFiles.tree) }]]);
  await makeTree([layer], tars, null, root, context);
  progress('writing the disk of the browser', 0.9);
  // A second build of the same recipe has other bytes, and no guest may find them below what it has mounted.
  await writeDisk(root, join(draft, `browser-${randomBytes(8).toString('hex')}.ext4`), context);
  return { debian: facts, builtAt: new Date().toISOString() };
}

/** Nothing is ever written to it, so it has no journal; the file has holes where the file system is empty. */
async function writeDisk(tree: string, file: string, context: RunContext): Promise<void> {
  await using handle = await open(file, 'w');
  // Users of machines read it, whatever the umask of the builder.
  await handle.chmod(0o644);
  await handle.truncate(browserDiskBytes);
  const features = ['-O', '^has_journal,^resize_inode', '-E', 'assume_storage_prezeroed=1', '-L', 'lodge-browser'];
  const argv = ['mke2fs', '-q', '-t', 'ext4', '-m', '0', ...features, '-d', tree, file] as const;
  await run({ argv, timeoutMs: diskMs, advice: 'Check that the disk of the cache folder has room.' }, context);
}
