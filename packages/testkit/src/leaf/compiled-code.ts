/**
 * The code that control planes have compiled, kept for a whole test run. A control plane keeps its own in its data folder, for
 * root runs nothing that it wrote, and the data folder of a test is new: without this, each of them strips and compiles all
 * files again, which takes two seconds of a processor.
 */
import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Set by the test run; a file that is run by itself compiles. */
const variable = 'TESTS_COMPILED_CODE';
/** In the data folder: the control plane's own folder, and its cache there. */
const ownFolder = 'control-plane';
const cache = 'node';

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** For the test run: keeps compiled code for all files begun from here on. Resolves with what takes it away. */
export async function shareCompiledCode(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'lodge-test-code-'));
  process.env[variable] = folder;
  return () => rm(folder, { recursive: true, force: true });
}

/** Keeps the code of a control plane that has ended, where the run keeps it and has none yet. */
export async function keepCompiledCode(dataDir: string): Promise<void> {
  const folder = process.env[variable];
  const from = join(dataDir, ownFolder, cache);
  if (folder === undefined || (await isThere(join(folder, cache))) || !(await isThere(from))) return;
  const draft = await mkdtemp(join(folder, 'draft-'));
  await run('cp', ['-a', from, draft]);
  // Another test file may have been faster.
  await rename(join(draft, cache), join(folder, cache)).catch(() => undefined);
  await rm(draft, { recursive: true, force: true });
}

/** Puts the kept code into a data folder that no Lodge was started on yet. */
export async function placeCompiledCode(dataDir: string): Promise<void> {
  const folder = process.env[variable];
  if (folder === undefined || !(await isThere(join(folder, cache)))) return;
  await mkdir(join(dataDir, ownFolder), { mode: 0o700 });
  await run('cp', ['-a', join(folder, cache), join(dataDir, ownFolder)]);
}
