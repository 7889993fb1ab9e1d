/** The packages that an owner wants in an agent's machine, beside those of the image. */
import { Refusal } from '../refusal.ts';

export const packageManagers = ['apt', 'pip', 'npm'] as const;
export type PackageManager = (typeof packageManagers)[number];

/**
 * Packages by the tool that installs them, each with an optional version in the tool's own form: `jq=1.6-2.1`,
 * `pandas==2.3.1`, `@scope/cli@4`.
 */
export type Packages = Readonly<Record<PackageManager, readonly string[]>>;

export const noPackages: Packages = { apt: [], pip: [], npm: [] };

/** Most packages of each tool. */
export const maxPackages = 50;
/** Most characters of one package with its version. */
export const maxPackageLength = 200;

/**
 * Whole entries, as patterns of JSON Schema. No entry begins with a hyphen, and none has a space, a slash beside npm's scope,
 * or a colon beside an epoch, so no entry is an option, a path or a URL to its tool.
 */
export const packagePatterns: Readonly<Record<PackageManager, string>> = {
  // A hyphen at the end would have apt remove the package.
  apt: '^[a-z0-9][a-z0-9+.-]*[a-z0-9+](?:=[0-9][A-Za-z0-9.+:~-]*)?$',
  pip: '^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\\[[A-Za-z0-9._-]+(?:,[A-Za-z0-9._-]+)*\\])?(?:==[A-Za-z0-9][A-Za-z0-9.!+_-]*)?$',
  npm: '^(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~][a-z0-9._~-]*(?:@[0-9]+(?:\\.[0-9]+){0,2}(?:-[0-9A-Za-z.-]+)?(?:\\+[0-9A-Za-z.-]+)?)?$',
};

/** The accepted form of each tool's entries, as the end of a sentence that begins with the field's name. */
export const packageForms: Readonly<Record<PackageManager, string>> = {
  apt: 'must be a name of a Debian package such as jq, or one with a version such as jq=1.6-2.1',
  pip: 'must be a name of a Python package such as pandas, or one with a version such as pandas==2.3.1',
  npm: 'must be a name of an npm package such as @scope/cli, or one with a version such as @scope/cli@4',
};

/** Endings by which pip and npm take a name for a file. */
const archive = /\.(?:whl|zip|tar|tgz|tbz|txz|tar\.(?:gz|bz2|xz|lzma))$/i;

/** Returns all three lists. Refuses with the field's name what the patterns cannot say. */
export function checkedPackages(given: Partial<Packages>): Packages {
  const listOf = (manager: PackageManager): readonly string[] => checkedList(manager, given[manager] ?? []);
  return { apt: listOf('apt'), pip: listOf('pip'), npm: listOf('npm') };
}

function checkedList(manager: PackageManager, entries: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    const field = `packages.${manager}[${index}]`;
    const name = nameOf[manager](entry);
    if (manager !== 'apt' && archive.test(entry.split(/(?!^)@|==/)[0]!))
      throw new Refusal('invalid_request', `${field} is a name of a file.`);
    if (seen.has(name)) throw new Refusal('invalid_request', `${field} names ${name} a second time.`);
    seen.add(name);
  }
  return entries;
}

/** Names in the form in which two of them are the same package. */
const nameOf: Readonly<Record<PackageManager, (entry: string) => string>> = {
  apt: (entry) => entry.split('=')[0]!,
  pip: (entry) =>
    entry
      .split(/==|\[/)[0]!
      .toLowerCase()
      .replaceAll(/[-_.]+/g, '-'),
  npm: (entry) => entry.slice(0, entry.indexOf('@', 1) === -1 ? undefined : entry.indexOf('@', 1)),
};
