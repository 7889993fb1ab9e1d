/** The part of an image that comes from Debian: a root tree as a tar, the kernel, and the initrd's modules. */
import { copyFile, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { guestProcessor, type ReportProgress } from '@lodge/ports';
import type { Facts } from './artifact.ts';
import { ImageError } from './errors.ts';
import { processor } from './processor.ts';
import type { DebianRecipe } from './recipe.ts';
import { run, type RunContext } from './run.ts';

export const debianFiles = { tree: 'root.tar', kernel: 'vmlinuz', modules: 'modules.tar' } as const;

const bootstrapMs = 40 * 60_000;
const shortMs = 5 * 60_000;
const advice = 'Check that apt can download (apt-get update) and that the disk has room, then try again.';

/** What mmdebstrap says as it goes, and how far it is then. */
const steps: readonly (readonly [beginning: string, fraction: number])[] = [
  ['running apt-get update', 0.05],
  ['downloading packages', 0.15],
  ['extracting archives', 0.25],
  ['installing essential packages', 0.35],
  ['installing remaining packages', 0.6],
  ['creating tarball', 0.85],
];

export async function makeDebian(
  recipe: DebianRecipe,
  draft: string,
  scratch: string,
  progress: ReportProgress,
  context: RunContext,
): Promise<Facts> {
  await bootstrap(recipe, draft, scratch, progress, context);
  const versions = await packageVersions(join(draft, 'packages.txt'));
  await rm(join(draft, 'packages.txt'));
  progress('Debian: unpacking the kernel', 0.95);
  const kernel = await unpackKernel(recipe, draft, scratch, context);
  return { suite: recipe.suite, kernel, packages: versions };
}

async function bootstrap(
  recipe: DebianRecipe,
  draft: string,
  scratch: string,
  progress: ReportProgress,
  context: RunContext,
): Promise<void> {
  const sources = await hostSources(recipe.suite, context);
  const argv = [
    '--variant=minbase',
    '--mode=root',
    '--format=tar',
    `--architectures=${processor.debian}`,
    // Nothing is lost by a power cut here: an unfinished tree is thrown away.
    '--dpkgopt=force-unsafe-io',
    `--include=${recipe.packages.join(',')}`,
    `--customize-hook=${join(import.meta.dirname, 'debian-hook.sh')}`,
    recipe.suite,
    join(draft, debianFiles.tree),
    ...(sources === '' ? [] : ['-']),
  ];
  await run(
    {
      // Namespaces of its own: it mounts the host's /dev in the tree, and when it is killed nothing of that may stay.
      argv: ['unshare', '--mount', '--pid', '--fork', '--kill-child=KILL', '--mount-proc', 'mmdebstrap', ...argv],
      env: {
        TMPDIR: scratch,
        LODGE_DRAFT: draft,
        LODGE_KERNEL_PACKAGE: recipe.kernelPackage[guestProcessor],
        LODGE_RANDOM_SOURCE: join(import.meta.dirname, 'random.c'),
      },
      stdin: sources,
      timeoutMs: bootstrapMs,
      advice,
      title: 'mmdebstrap',
      reason: /^E: /,
      onLine: (line) => {
        const step = steps.find(([beginning]) => line.startsWith(`I: ${beginning}`));
        if (step) progress(`Debian: ${line.slice(3).replaceAll('.', '')}`, step[1]);
      },
    },
    context,
  );
}

/**
 * The host's own sources of this suite, as lines of a sources.list: an operator who has a mirror of Debian has it there. Empty
 * when there is none; mmdebstrap then takes Debian's default.
 */
async function hostSources(suite: string, context: RunContext): Promise<string> {
  const format = '$(ORIGIN)|$(TRUSTED)|$(CODENAME)|$(COMPONENT)|$(REPO_URI)';
  const argv = ['apt-get', 'indextargets', '--format', format, 'Created-By: Packages'] as const;
  const text = await run(
    { argv, timeoutMs: shortMs, advice: 'Check the sources of apt (apt-get indextargets).' },
    context,
  );
  const sources: string[] = [];
  for (const line of text.split('\n')) {
    const [origin, trusted, codename, component, uri] = line.split('|');
    const wanted = codename === suite || codename === `${suite}-updates` || codename === `${suite}-security`;
    if (origin === 'Debian' && trusted === 'yes' && wanted && component === 'main' && uri) {
      sources.push(`deb ${uri} ${codename} main\n`);
    }
  }
  return sources.some((line) => line.includes(` ${suite} `)) ? [...new Set(sources)].join('') : '';
}

async function packageVersions(file: string): Promise<Record<string, string>> {
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(' ') as [string, string]));
}

/** Leaves the kernel and a tar of the wanted modules in `draft`. Returns the kernel package with its version. */
async function unpackKernel(
  recipe: DebianRecipe,
  draft: string,
  scratch: string,
  context: RunContext,
): Promise<string> {
  const deb = join(draft, 'kernel.deb');
  const tree = join(scratch, 'kernel');
  const modules = join(scratch, 'modules');
  const tool = { timeoutMs: shortMs, advice } as const;
  await run({ argv: ['dpkg-deb', '--extract', deb, tree], ...tool }, context);
  const fields = await run(
    { argv: ['dpkg-deb', '--show', '--showformat=${Package} ${Version}', deb], ...tool },
    context,
  );
  const found = await run({ argv: ['find', tree, '-name', 'vmlinuz-*', '-o', '-name', '*.ko'], ...tool }, context);
  const files = new Map(
    found
      .trim()
      .split('\n')
      .map((path) => [basename(path), path]),
  );
  const image = [...files].find(([name]) => name.startsWith('vmlinuz-'))?.[1];
  if (image === undefined) throw new ImageError(`the package ${fields} has no kernel image`);
  await rename(image, join(draft, debianFiles.kernel));
  await mkdir(modules);
  for (const name of recipe.modules) {
    const path = files.get(`${name}.ko`);
    if (path === undefined) throw new ImageError(`the package ${fields} has no module ${name}`);
    await copyFile(path, join(modules, `${name}.ko`));
  }
  await run(
    { argv: ['tar', '--create', '--file', join(draft, debianFiles.modules), '-C', modules, '.'], ...tool },
    context,
  );
  await rm(deb);
  return fields;
}
