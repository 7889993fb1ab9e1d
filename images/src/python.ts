/**
 * The part of an image that has Python packages: the Debian tree with them in it, compiled by that tree's own Python. They
 * come from wheels alone, by version and hash, so nothing of a package runs and no compiler is needed, here or in the guest.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReportProgress } from '@lodge/ports';
import type { Facts } from './artifact.ts';
import { dropFiles } from './drop.ts';
import { processor } from './processor.ts';
import type { Layer, PythonRecipe } from './recipe.ts';
import { replaceText } from './replace.ts';
import { run, type RunContext } from './run.ts';

export const pythonFiles = { tree: 'root.tar' } as const;
export const requirementsFile = 'requirements.txt';

const installMs = 30 * 60_000;
const shortMs = 10 * 60_000;
const roomAdvice = 'Check that the disk has room.';
/** Oldest C libraries that a wheel may ask for, up to that of Debian 12 (2.36). */
const glibcMinors = [36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 17, 12, 5];
/** What differs between one install and the next, and is of use only to pip. */
const installRecords = [
  'bin',
  '*.dist-info/RECORD',
  '*.dist-info/INSTALLER',
  '*.dist-info/REQUESTED',
  '**/__pycache__',
];

export async function makePython(
  layer: Layer & { readonly python: PythonRecipe },
  debianTar: string,
  draft: string,
  scratch: string,
  progress: ReportProgress,
  context: RunContext,
): Promise<Facts> {
  const { into, drop, replace = [] } = layer.python;
  const root = join(scratch, 'python-root');
  const packages = join(root, into);
  const requirements = join(layer.folder, requirementsFile);
  progress('Python: unpacking Debian');
  const tool = { timeoutMs: shortMs, advice: roomAdvice };
  await run({ argv: ['mkdir', root], ...tool }, context);
  await run({ argv: ['tar', '--extract', '--numeric-owner', '--file', debianTar, '-C', root], ...tool }, context);
  progress('Python: installing packages', 0.2);
  await install(layer.python, requirements, packages, join(scratch, 'pip-cache'), context);
  progress('Python: removing what the guest does not need', 0.6);
  await dropFiles(packages, [...installRecords, ...drop]);
  await replaceText(packages, replace);
  progress('Python: compiling', 0.7);
  // The bytecode does not look at the sources' times, which no layer keeps.
  const compile = ['-m', 'compileall', '-q', '--invalidation-mode', 'unchecked-hash', into];
  await run({ argv: ['chroot', root, '/usr/bin/python3', ...compile], ...tool }, context);
  const tar = ['--create', '--numeric-owner', '--sort=name', '--file', join(draft, pythonFiles.tree)];
  await run({ argv: ['tar', ...tar, '-C', root, '.'], ...tool }, context);
  await run({ argv: ['rm', '-rf', root], ...tool }, context);
  return { python: versions(await readFile(requirements, 'utf8')) };
}

/** pip's options for wheels, and wheels alone, that a guest's Python of this version takes. */
export function guestWheels(version: string): string[] {
  const names = [...glibcMinors.map((minor) => `manylinux_2_${minor}`), 'manylinux2014'];
  return [
    ...names.flatMap((name) => ['--platform', `${name}_${processor.wheel}`]),
    `--python-version=${version}`,
    '--implementation=cp',
    `--abi=cp${version.replace('.', '')}`,
    '--abi=abi3',
    '--abi=none',
    '--only-binary=:all:',
  ];
}

/** By the operator's own settings of pip (a mirror, say). */
async function install(
  { version }: PythonRecipe,
  requirements: string,
  packages: string,
  cache: string,
  context: RunContext,
): Promise<void> {
  const target = [...guestWheels(version), `--target=${packages}`];
  const strict = ['--require-hashes', '--no-deps', '--no-compile'];
  const quiet = ['--quiet', '--no-input', '--disable-pip-version-check', '--root-user-action=ignore'];
  await run(
    {
      argv: ['pip3', 'install', ...strict, ...target, ...quiet, `--cache-dir=${cache}`, '--requirement', requirements],
      timeoutMs: installMs,
      reason: /^ERROR: /,
      advice: 'Check that pip can reach its index (pip3 download --no-deps certifi), then try again.',
    },
    context,
  );
}

function versions(requirements: string): Record<string, string> {
  return Object.fromEntries(
    [...requirements.matchAll(/^(\S+)==(\S+)/gm)].map(([, name, version]) => [name!, version!]),
  );
}
