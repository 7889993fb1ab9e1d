/**
 * Builds the TypeScript SDK and packs it for npm, and prints its size.
 *
 *   node scripts/sdk/pack.ts [FOLDER]     puts lodge-sdk-<version>.tgz there; dist/packages by default
 */
import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'tsdown';

const root = join(import.meta.dirname, '../..');
const source = join(root, 'packages/sdk');
/** The bound on what a page loads, compressed. */
export const maxGzipBytes = 15 * 1024;

export interface Packed {
  /** The tarball. */
  readonly path: string;
  /** Bytes of what a page loads, compressed. */
  readonly gzipBytes: number;
}

/** Packs the SDK into `folder`. */
export async function packSdk(folder: string): Promise<Packed> {
  const work = await mkdtemp(join(tmpdir(), 'lodge-sdk-'));
  try {
    const dist = join(work, 'dist');
    await build({
      config: false,
      cwd: source,
      entry: { index: 'src/index.ts', node: 'src/node/index.ts' },
      outDir: dist,
      format: 'esm',
      platform: 'neutral',
      target: 'es2022',
      external: [/^node:/],
      dts: { oxc: true },
      minify: true,
      logLevel: 'error',
      outExtensions: () => ({ js: '.js', dts: '.d.ts' }),
    });
    const { version } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as { version: string };
    await writeFile(join(work, 'package.json'), `${JSON.stringify(manifest(version), null, 2)}\n`);
    await cp(join(source, 'README.md'), join(work, 'README.md'));
    await mkdir(folder, { recursive: true });
    execFileSync('npm', ['pack', '--pack-destination', resolve(folder)], { cwd: work, stdio: 'ignore' });
    return { path: join(folder, `lodge-sdk-${version}.tgz`), gzipBytes: await pageBytes(dist) };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

const entry = (name: string) => ({ types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` });

/** The package as npm has it: in the repository it is private, and its exports are the sources. */
const manifest = (version: string) => ({
  name: '@lodge/sdk',
  version,
  description: 'Create, run and talk to AI agents on a Lodge, from browsers, Node, Bun and Deno',
  license: 'UNLICENSED',
  type: 'module',
  sideEffects: false,
  engines: { node: '>=20' },
  exports: { '.': entry('index'), './node': entry('node') },
  types: './dist/index.d.ts',
  files: ['dist', 'README.md'],
});

/** Bytes of the entry with the modules that it imports, compressed. */
async function pageBytes(dist: string): Promise<number> {
  const names = await readdir(dist);
  const seen = new Set<string>();
  let bytes = 0;
  const add = async (name: string): Promise<void> => {
    if (seen.has(name) || !names.includes(name)) return;
    seen.add(name);
    const text = await readFile(join(dist, name), 'utf8');
    bytes += gzipSync(text, { level: 9 }).length;
    for (const [, inner = ''] of text.matchAll(/["']\.\/([\w.-]+)["']/g)) await add(inner);
  };
  await add('index.js');
  return bytes;
}

if (import.meta.main) {
  const { path, gzipBytes } = await packSdk(process.argv[2] ?? join(root, 'dist/packages'));
  console.log(`${path}: ${(gzipBytes / 1024).toFixed(1)} KiB compressed in a page, of ${maxGzipBytes / 1024}`);
  if (gzipBytes > maxGzipBytes) process.exitCode = 1;
}
