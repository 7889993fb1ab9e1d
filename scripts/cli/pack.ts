/**
 * Makes the npm package of the command: its modules bundled for Node 20 and later, in chunks, so that a command loads what it
 * needs alone. The keyring stays a package of its own, since it is built for each machine.
 *
 *   node scripts/cli/pack.ts FOLDER    writes FOLDER/package and FOLDER/lodge-cli-VERSION.tgz, and prints the tarball's path
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'tsdown';

const root = join(import.meta.dirname, '../..');
const source = join(root, 'apps/cli');

interface About {
  readonly version: string;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

/** Bundles the command into a folder, and returns the path of its program. */
export async function bundleCommand(folder: string): Promise<string> {
  await build({
    entry: { main: join(source, 'src/main.ts') },
    cwd: source,
    outDir: folder,
    clean: true,
    config: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    dts: false,
    minify: true,
    logLevel: 'warn',
    deps: { neverBundle: ['@napi-rs/keyring'], alwaysBundle: [/^(?!@napi-rs\/|node:)/], onlyBundle: false },
    outExtensions: () => ({ js: '.js' }),
  });
  return join(folder, 'main.js');
}

/** Makes the package and its tarball, and returns the tarball's path. */
export async function packCommand(folder: string): Promise<string> {
  const about = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as About;
  const made = join(folder, 'package');
  await rm(made, { recursive: true, force: true });
  await mkdir(made, { recursive: true });
  await bundleCommand(join(made, 'dist'));
  await copyFile(join(root, 'docs/guides/cli.md'), join(made, 'README.md'));
  await writeFile(join(made, 'package.json'), `${JSON.stringify(packageOf(about), null, 2)}\n`);
  const { stdout } = await promisify(execFile)('npm', ['pack', '--json', '--pack-destination', folder], { cwd: made });
  const [{ filename }] = JSON.parse(stdout) as [{ readonly filename: string }];
  return join(folder, filename);
}

const packageOf = ({ version, optionalDependencies }: About): object => ({
  name: 'lodge-cli',
  version,
  description: 'Command line of Lodge, which hosts AI agents in virtual machines',
  license: 'UNLICENSED',
  type: 'module',
  bin: { lodge: 'dist/main.js' },
  files: ['dist'],
  engines: { node: '>=20' },
  optionalDependencies,
});

if (import.meta.main) {
  const folder = process.argv[2];
  if (folder === undefined) throw new Error('Name a folder: node scripts/cli/pack.ts FOLDER');
  console.log(await packCommand(resolve(folder)));
}
