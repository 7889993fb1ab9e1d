import { join } from 'node:path';
import { hasGuestsHere } from '@lodge/ports';
import type { Image, ImageBuilder, Log, ReportProgress } from '@lodge/ports';
import type { Artifact, Facts } from './artifact.ts';
import { assemble, imageFiles, rootDiskName, type ImageParts } from './assemble.ts';
import { Cache } from './cache.ts';
import { debianFiles, makeDebian } from './debian.ts';
import { ImageError } from './errors.ts';
import { bundleGuestd } from './guestd-bundle.ts';
import { debianName, imageId, npmName, pythonName } from './identity.ts';
import { makeNpm, npmFiles } from './npm.ts';
import { makePython, pythonFiles } from './python.ts';
import { foundation, readLayers, type DebianRecipe, type Layer } from './recipe.ts';
import type { RunContext } from './run.ts';
import { sideBySide, runAll } from './side-by-side.ts';
import type { LayerTars } from './tree.ts';
import { InstalledVersions, splitImageName } from './versions/installed.ts';

export interface ImageBuilderOptions {
  /**
   * Absolute path of the cache, shared by all builders of this host. It needs some gigabytes, and the users that run VMs
   * must be able to read it.
   */
  readonly cacheDir: string;
  /** Folder of the recipes; by default those of this package. */
  readonly sourceDir?: string;
  /** Folder of further installed versions, whose images are named `runtime@version`. */
  readonly versionsDir?: string;
  readonly log: Log;
}

/**
 * Creates a builder for the recipes in `sourceDir`. `ensure` needs root, and rejects with `ImageError` when a build cannot
 * go on.
 */
export function createImageBuilder(options: ImageBuilderOptions): ImageBuilder {
  return new RecipeImageBuilder(options);
}

interface Plan {
  readonly id: string;
  readonly layers: readonly [Layer, ...Layer[]];
  readonly guestd: string;
}

class RecipeImageBuilder implements ImageBuilder {
  private readonly cache: Cache;
  private readonly sourceDir: string;
  private readonly installed: InstalledVersions | null;
  private readonly log: Log;
  private readonly plans = new Map<string, Promise<Plan>>();
  private guestd: Promise<string> | null = null;

  constructor(options: ImageBuilderOptions) {
    this.cache = new Cache(options.cacheDir);
    this.sourceDir = options.sourceDir ?? join(import.meta.dirname, '..');
    this.installed = options.versionsDir === undefined ? null : new InstalledVersions(options.versionsDir);
    this.log = options.log;
  }

  async idOf(runtime: string): Promise<string> {
    return (await this.plan(runtime)).id;
  }

  async find(runtime: string): Promise<Image | null> {
    const { id } = await this.plan(runtime);
    const artifact = await this.cache.find({ shelf: 'images', name: id });
    return artifact && this.imageOf(id, artifact);
  }

  async ensure(runtime: string, progress: ReportProgress, signal: AbortSignal): Promise<Image> {
    const plan = await this.plan(runtime);
    const early = await this.find(runtime);
    if (early !== null) return early;
    if (process.getuid?.() !== 0) throw new ImageError('building an image needs root');
    if (!hasGuestsHere) throw new ImageError(`there is no image for ${process.arch}`);
    await this.cache.collectDrafts();
    const context = { log: this.log, signal };
    const startedAt = performance.now();
    const make = async (draft: string, scratch: string): Promise<Facts> => {
      const { parts, facts } = await this.collectParts(plan, progress, context);
      await assemble(parts, draft, scratch, within(progress, 0.7, 1), context);
      return { recipe: runtime, id: plan.id, ...facts, builtAt: new Date().toISOString() };
    };
    const title = `the image ${runtime}`;
    const artifact = await this.cache.ensure({ shelf: 'images', name: plan.id, title, make }, progress, signal);
    this.log.info({ runtime, image: plan.id, ms: Math.round(performance.now() - startedAt) }, 'image is ready');
    return this.imageOf(plan.id, artifact);
  }

  /**
   * Returns the plan of an image. Recipes and daemon are read once, so this process builds exactly what it named. An
   * installed version's recipe is read each time, because it may be replaced while this process lives.
   */
  private plan(name: string): Promise<Plan> {
    const known = this.plans.get(name);
    if (known) return known;
    const { runtime, version } = splitImageName(name);
    const made = this.readPlan(runtime, version);
    if (version === null) this.plans.set(name, made);
    return made;
  }

  private async readPlan(runtime: string, version: string | null): Promise<Plan> {
    this.guestd ??= bundleGuestd();
    if (version !== null && this.installed === null)
      throw new ImageError(`no versions of ${runtime} are installed here`);
    const folder = version === null ? undefined : this.installed!.recipeOf(runtime, version);
    const [layers, guestd] = await Promise.all([readLayers(this.sourceDir, runtime, folder), this.guestd]);
    return { id: await imageId(layers, guestd), layers, guestd };
  }

  private async collectParts(
    plan: Plan,
    progress: ReportProgress,
    context: RunContext,
  ): Promise<{ readonly parts: ImageParts; readonly facts: Facts }> {
    const { debian, nodeVersion } = foundation(plan.layers);
    const layers = plan.layers.filter(({ npm }) => npm);
    const [forDebian, ...forNpm] = sideBySide(within(progress, 0, layers.length > 0 ? 0.7 : 0.35), 1 + layers.length);
    const npm = layers.map((layer, index) => (signal: AbortSignal) => {
      return this.npmPart(layer, forNpm[index]!, { ...context, signal });
    });
    const [debianPart, ...npmParts] = (await runAll(context.signal, [
      (signal) => this.debianPart(debian, forDebian!, { ...context, signal }),
      ...npm,
    ])) as [Part, ...Part[]];
    let tree = join(debianPart.folder, debianFiles.tree);
    let dependencies: Facts = {};
    for (const layer of plan.layers) {
      if (!layer.python) continue;
      const part = await this.pythonPart({ ...layer, python: layer.python }, debian, tree, progress, context);
      tree = join(part.folder, pythonFiles.tree);
      dependencies = { ...dependencies, ...part.artifact.facts };
    }
    const tars = new Map<string, LayerTars>([[plan.layers[0].name, { debian: tree }]]);
    for (const [index, { name }] of layers.entries()) {
      const part = npmParts[index]!;
      tars.set(name, { ...tars.get(name), npm: join(part.folder, npmFiles.tree) });
      dependencies = { ...dependencies, ...part.artifact.facts };
    }
    const facts = { debian: debianPart.artifact.facts, node: nodeVersion, ...dependencies };
    const kernel = join(debianPart.folder, debianFiles.kernel);
    const modulesTar = join(debianPart.folder, debianFiles.modules);
    return { parts: { ...plan, tars, kernel, modulesTar }, facts };
  }

  private async debianPart(debian: DebianRecipe, progress: ReportProgress, context: RunContext): Promise<Part> {
    const name = await debianName(debian);
    const make = (draft: string, scratch: string): Promise<Facts> =>
      makeDebian(debian, draft, scratch, progress, context);
    return this.part({ name, title: 'the Debian part', make }, progress, context);
  }

  private async pythonPart(
    layer: Parameters<typeof makePython>[0],
    debian: DebianRecipe,
    debianTar: string,
    progress: ReportProgress,
    context: RunContext,
  ): Promise<Part> {
    const name = await pythonName(layer, debian);
    const stretch = within(progress, 0.35, 0.7);
    const make = (draft: string, scratch: string): Promise<Facts> =>
      makePython(layer, debianTar, draft, scratch, stretch, context);
    return this.part({ name, title: `the Python part of ${layer.name}`, make }, stretch, context);
  }

  private async npmPart(layer: Layer, progress: ReportProgress, context: RunContext): Promise<Part> {
    const make = (draft: string, scratch: string): Promise<Facts> => makeNpm(layer, draft, scratch, progress, context);
    return this.part({ name: await npmName(layer), title: `the npm part of ${layer.name}`, make }, progress, context);
  }

  private async part(
    making: {
      readonly name: string;
      readonly title: string;
      readonly make: (draft: string, scratch: string) => Promise<Facts>;
    },
    progress: ReportProgress,
    { signal }: RunContext,
  ): Promise<Part> {
    const artifact = await this.cache.ensure({ shelf: 'parts', ...making }, progress, signal);
    return { artifact, folder: this.cache.folderOf({ shelf: 'parts', name: making.name }) };
  }

  private imageOf(id: string, artifact: Artifact): Image {
    const folder = this.cache.folderOf({ shelf: 'images', name: id });
    const [rootDisk] = Object.entries(artifact.files).filter(([name, { sha256 }]) => name === rootDiskName(sha256));
    if (rootDisk === undefined) throw new ImageError(`the image in ${folder} has no root disk; remove the folder`);
    const file = (name: string): string => join(folder, name);
    return { id, rootDisk: file(rootDisk[0]), kernel: file(imageFiles.kernel), initrd: file(imageFiles.initrd) };
  }
}

interface Part {
  readonly artifact: Artifact;
  readonly folder: string;
}

/** Maps a step's own progress to a part of the whole. A step without a fraction stays at its beginning. */
function within(progress: ReportProgress, from: number, to: number): ReportProgress {
  return (step, fraction = 0) => progress(step, from + fraction * (to - from));
}
