/**
 * Installed versions of runtimes beside Lodge's own, as files of the data folder:
 *
 *   <folder>/<runtime>/offer.json                  the versions for agents; absent: Lodge's own
 *   <folder>/<runtime>/<version>/recipe/           a whole recipe: recipe.json, lock file, files of the guest
 *   <folder>/<runtime>/<version>/verdict.json      the result of its tests; absent: not tested to the end
 *   <folder>/<runtime>/<version>/conformance.log   the output of the tests
 *
 * Each file appears by one rename, and so does the recipe. A version without a `passed` verdict is offered to nobody, so a
 * kill between any two steps leaves nothing that agents could get.
 */
import { open, readFile, readdir, rename, rm, mkdir } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { ImageError } from '../errors.ts';

export interface Verdict {
  /** The tested image; null when none could be built. */
  readonly image: string | null;
  /** Its template's variant, as in `AgentRuntime.templateVariant`. */
  readonly variant: string;
  readonly passed: boolean;
  readonly failure: VersionFailure | null;
  /** ISO 8601. */
  readonly at: string;
}

export interface VersionFailure {
  readonly step: 'packages' | 'edits' | 'image' | 'conformance';
  /** Name of the failing case, with `conformance`. */
  readonly case: string | null;
  /** The reason in words for the operator. */
  readonly reason: string;
}

/** The offered versions; null is Lodge's own. */
export interface Offer {
  readonly fresh: string | null;
  readonly upgrade: string | null;
}

const runtimePattern = /^[a-z][a-z0-9-]{0,31}$/;
/** A version begins with a digit, so none is a path. */
export const versionPattern = /^[0-9][0-9A-Za-z.+-]{0,63}$/;
const nothing: Offer = { fresh: null, upgrade: null };

/** Splits `runtime@version`, or a runtime alone. */
export function splitImageName(name: string): { readonly runtime: string; readonly version: string | null } {
  const at = name.indexOf('@');
  return at === -1 ? { runtime: name, version: null } : { runtime: name.slice(0, at), version: name.slice(at + 1) };
}

export const imageName = (runtime: string, version: string | null): string =>
  version === null ? runtime : `${runtime}@${version}`;

export class InstalledVersions {
  readonly folder: string;

  /** `folder` is an absolute path that only root writes. It need not exist. */
  constructor(folder: string) {
    this.folder = folder;
  }

  folderOf(runtime: string, version: string): string {
    if (!runtimePattern.test(runtime) || !versionPattern.test(version)) {
      throw new ImageError(`${runtime} ${version} is not a version of a runtime`);
    }
    return join(this.folder, runtime, version);
  }

  recipeOf(runtime: string, version: string): string {
    return join(this.folderOf(runtime, version), 'recipe');
  }

  logOf(runtime: string, version: string): string {
    return join(this.folderOf(runtime, version), 'conformance.log');
  }

  /** Returns every version with data here, whatever its state. */
  async list(runtime: string): Promise<string[]> {
    const entries: readonly string[] = await readdir(join(this.folder, runtime)).catch(() => []);
    return entries.filter((name) => versionPattern.test(name)).sort();
  }

  async hasRecipe(runtime: string, version: string): Promise<boolean> {
    const files: readonly string[] = await readdir(this.recipeOf(runtime, version)).catch(() => []);
    return files.includes('recipe.json');
  }

  verdict(runtime: string, version: string): Promise<Verdict | null> {
    return readJson<Verdict>(join(this.folderOf(runtime, version), 'verdict.json'));
  }

  async offer(runtime: string): Promise<Offer> {
    return (await readJson<Offer>(this.offerFile(runtime))) ?? nothing;
  }

  writeVerdict(runtime: string, version: string, verdict: Verdict): Promise<void> {
    return writeJson(join(this.folderOf(runtime, version), 'verdict.json'), verdict);
  }

  writeOffer(runtime: string, offer: Offer): Promise<void> {
    return writeJson(this.offerFile(runtime), offer);
  }

  /**
   * Puts a finished recipe in its place. The earlier one is removed first, beginning with its verdict. `draft` is on the
   * same file system.
   */
  async publish(runtime: string, version: string, draft: string): Promise<void> {
    await this.remove(runtime, version);
    await mkdir(this.folderOf(runtime, version), { recursive: true, mode: 0o755 });
    await rename(draft, this.recipeOf(runtime, version));
    await fsync(this.folderOf(runtime, version));
  }

  async remove(runtime: string, version: string): Promise<void> {
    const folder = this.folderOf(runtime, version);
    await rm(join(folder, 'verdict.json'), { force: true });
    await rm(folder, { recursive: true, force: true });
  }

  private offerFile(runtime: string): string {
    if (!runtimePattern.test(runtime)) throw new ImageError(`${runtime} is not the name of a runtime`);
    return join(this.folder, runtime, 'offer.json');
  }
}

/** Reads a file; null when it is missing or incomplete, because nothing is offered by an unreadable file. */
async function readJson<T>(path: string): Promise<T | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T;
  } catch {
    return null;
  }
}

async function writeJson(path: string, value: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o755 });
  const draft = `${path}.${randomBytes(4).toString('hex')}`;
  await using handle = await open(draft, 'w', 0o644);
  await handle.writeFile(`${JSON.stringify(value, null, 2)}\n`);
  await handle.sync();
  await rename(draft, path);
  await fsync(dirname(path));
}

async function fsync(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}
