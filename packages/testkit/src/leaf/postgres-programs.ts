/**
 * Postgres' programs, copied once for a whole test run: each server folder gets them as hard links. A copy is 60 MB and a
 * `sync` of the whole disk, which a hundred test files would wait for, each in turn.
 */
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installBinaries } from '@lodge/store';

const run = promisify(execFile);
/** Set by the test run; a file that is run by itself copies. */
const variable = 'TESTS_POSTGRES_PROGRAMS';

/** For the test run: the programs for all files begun from here on. Resolves with what takes them away. */
export async function sharePrograms(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'lodge-test-programs-'));
  await chmod(folder, 0o711);
  process.env[variable] = (await installBinaries(folder)).home;
  return () => rm(folder, { recursive: true, force: true });
}

/** Puts the programs into the folder of a server that was not started yet, where the run shares them. */
export async function placePrograms(serverFolder: string): Promise<void> {
  const programs = process.env[variable];
  if (programs === undefined) return;
  await mkdir(serverFolder, { recursive: true });
  // Hard links do not reach another file system: a server there copies its own.
  const [{ dev: from }, { dev: to }] = await Promise.all([stat(programs), stat(serverFolder)]);
  if (from !== to) return;
  await run('cp', ['-al', programs, serverFolder]);
}
