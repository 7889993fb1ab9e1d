/**
 * Builds the dashboard's pages (apps/web) unless they are up to date. An interrupted build leaves the pages as they were.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { glob, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const web = join(root, 'apps/web');
const built = join(web, 'dist');
const mark = join(built, '.built-from');

const source = await hashOfSources();
if ((await readFile(mark, 'utf8').catch(() => '')) !== source) {
  process.stderr.write('Building the dashboard (a few seconds).\n');
  // Tests beside one another may build at once.
  const next = join(web, `dist.next-${process.pid}`);
  await rm(next, { recursive: true, force: true });
  await mkdir(next, { recursive: true });
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const args = [vite, 'build', '--outDir', next, '--emptyOutDir', '--logLevel', 'warn'];
  execFileSync(process.execPath, args, { cwd: web, stdio: ['ignore', 'inherit', 'inherit'] });
  await writeFile(join(next, '.built-from'), source);
  await rm(built, { recursive: true, force: true });
  await rename(next, built).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    await rm(next, { recursive: true, force: true });
  });
}

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256');
  const files: string[] = [];
  for await (const file of glob(['src/**/*.*', '*.{html,json,ts}'], { cwd: web })) files.push(file);
  for await (const file of glob('../../packages/sdk/src/**/*.ts', { cwd: web })) files.push(file);
  for (const file of files.sort()) hash.update(`${file}\0`).update(await readFile(join(web, file)));
  return hash.update(await readFile(join(root, 'package-lock.json'))).digest('hex');
}
