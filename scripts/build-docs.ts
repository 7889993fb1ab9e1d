/**
 * Builds the site of the documents (apps/docs), with the packages of the command line and the SDKs, unless it is up to date. An interrupted build leaves the site as it was. A
 * link that leads nowhere fails it.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, glob, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readSections } from '../apps/docs/src/pages.ts';
import { addTexts, stage } from '../apps/docs/src/stage.ts';
import { addPackages, packageSources } from './build-packages.ts';

const root = join(import.meta.dirname, '..');
const site = join(root, 'apps/docs');
const built = join(site, 'dist');
const mark = join(built, '.built-from');

const source = await hashOfSources();
if ((await readFile(mark, 'utf8').catch(() => '')) !== source) {
  process.stderr.write('Building the documents (a few seconds).\n');
  const next = join(site, 'dist.next');
  await rm(next, { recursive: true, force: true });
  await stage(root, join(site, '.pages'));
  const vitepress = join(root, 'node_modules/vitepress/bin/vitepress.js');
  const args = [vitepress, 'build', site, '--outDir', next];
  // Its progress is of no use in a log; a failure is.
  execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
  await addTexts(root, next);
  await addPackages(root, join(next, 'packages'));
  await copyFile(join(root, 'apps/web/src/icon.svg'), join(next, 'icon.svg'));
  await writeFile(join(next, '.built-from'), source);
  await rm(built, { recursive: true, force: true });
  await rename(next, built);
}

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256');
  const files = (await readSections(root)).flatMap(({ pages }) => pages).map(({ file }) => file);
  for await (const file of glob(['src/*.ts', '.vitepress/config.ts', '.vitepress/theme/*'], { cwd: site })) {
    files.push(join('apps/docs', file));
  }
  for await (const file of glob([...packageSources, 'docs/pictures/*'], { cwd: root })) files.push(file);
  for (const file of [...files, 'scripts/build-docs.ts', 'package-lock.json'].sort()) {
    hash.update(`${file}\0`).update(await readFile(join(root, file)));
  }
  return hash.digest('hex');
}
