/**
 * Packs the command line and both SDKs into a folder, for `npm install` and `pip install` from the server itself: then they
 * are always of its release.
 */
import { execFileSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packCommand } from './cli/pack.ts';
import { packSdk } from './sdk/pack.ts';

/** The parts that make up the packages, as patterns below the root. */
export const packageSources = [
  'apps/cli/{package.json,src/**/*.ts}',
  'packages/mcp/src/**/*.ts',
  'packages/sdk/{package.json,README.md,src/**/*.ts}',
  'packages/sdk-python/{pyproject.toml,README.md}',
  'packages/sdk-python/src/**/*.py',
  'scripts/{cli,sdk}/pack.ts',
  'scripts/build-packages.ts',
];

export async function addPackages(root: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(tmpdir(), 'lodge-packages-'));
  try {
    await copyFile(await packCommand(work), join(folder, 'lodge-cli.tgz'));
    await copyFile((await packSdk(work)).path, join(folder, 'lodge-sdk.tgz'));
    // pip builds it where it is installed. Its dependencies come from there, too.
    const args = ['--exclude=__pycache__', '--transform=s,^\\.,lodge_agents,', '-C', join(root, 'packages/sdk-python')];
    execFileSync('tar', [
      '-czf',
      join(folder, 'lodge-agents.tar.gz'),
      ...args,
      './pyproject.toml',
      './README.md',
      './src',
    ]);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
