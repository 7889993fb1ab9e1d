/** The part of an image that comes from npm: `node_modules` as a tar, by a lockfile, without what the guest does not need. */
import { access, chmod, constants, copyFile, mkdir, readFile, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { guestProcessor, type ReportProgress } from '@lodge/ports';
import type { Facts } from './artifact.ts';
import { ImageError } from './errors.ts';
import { dropFiles } from './drop.ts';
import { processor } from './processor.ts';
import type { Layer } from './recipe.ts';
import { replaceText } from './replace.ts';
import { run, type RunContext } from './run.ts';

export const npmFiles = { tree: 'node_modules.tar' } as const;

const installMs = 30 * 60_000;
const shortMs = 10 * 60_000;

export async function makeNpm(
  layer: Layer,
  draft: string,
  scratch: string,
  progress: ReportProgress,
  context: RunContext,
): Promise<Facts> {
  const { dependencies } = JSON.parse(await readFile(join(layer.folder, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const project = join(scratch, 'project');
  await mkdir(project);
  for (const name of ['package.json', 'package-lock.json']) {
    await copyFile(join(layer.folder, name), join(project, name));
  }
  progress(
    `npm: installing ${Object.entries(dependencies)
      .map((entry) => entry.join(' '))
      .join(', ')}`,
  );
  await install(project, join(scratch, 'npm-cache'), context);
  progress('npm: removing what the guest does not need', 0.7);
  const modules = join(project, 'node_modules');
  await dropFiles(modules, layer.npm?.drop ?? []);
  await replaceText(modules, layer.npm?.replace ?? []);
  for (const path of layer.npm?.executable ?? []) await chmod(join(modules, path), 0o755);
  await rm(join(modules, '.package-lock.json'), { force: true });
  const tar = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mode=u+w,go-w', '--mtime=@0'];
  await run(
    {
      argv: ['tar', '--create', ...tar, '--file', join(draft, npmFiles.tree), '-C', modules, '.'],
      timeoutMs: shortMs,
      advice: 'Check that the disk has room.',
    },
    context,
  );
  return { dependencies };
}

/** No package's own code runs: install scripts are off. So it may run as whoever builds, whose npm configuration it needs. */
async function install(project: string, ownCache: string, context: RunContext): Promise<void> {
  const target = ['--os=linux', `--cpu=${guestProcessor}`, '--libc=glibc'];
  const quiet = ['--no-audit', '--no-fund', '--no-progress', '--loglevel=warn'];
  const cache = (await isWritable(join(homedir(), '.npm'))) ? [] : [`--cache=${ownCache}`];
  await run(
    {
      argv: ['npm', 'ci', '--ignore-scripts', '--omit=dev', ...target, ...quiet, ...cache],
      cwd: project,
      env: {
        // npm hands its settings down to the scripts it runs; these would turn the install to the project it was run in.
        npm_config_local_prefix: undefined,
        npm_config_workspace: undefined,
        npm_config_workspaces: undefined,
        npm_config_include_workspace_root: undefined,
        PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`,
      },
      timeoutMs: installMs,
      reason: /^npm error (?!code |errno |syscall )/,
      advice: 'Check that npm can reach its registry (npm ping), then try again.',
    },
    context,
  );
}

/** npm makes the folder itself when it is not there. */
async function isWritable(folder: string): Promise<boolean> {
  const test = (path: string): Promise<boolean> =>
    access(path, constants.W_OK).then(
      () => true,
      () => false,
    );
  const exists = await access(folder).then(
    () => true,
    () => false,
  );
  return test(exists ? folder : dirname(folder));
}

/** The guests' Node: the binary of the package that this checkout has. */
export async function nodeBinary(version: string): Promise<string> {
  const name = processor.nodePackage;
  const folder = dirname(new URL(import.meta.resolve(`${name}/package.json`)).pathname);
  const found = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string };
  if (found.version === version) return join(folder, 'bin/node');
  throw new ImageError(`${name} ${version} is not installed (found ${found.version}). Run npm ci.`);
}
