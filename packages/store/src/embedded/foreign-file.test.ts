/** Tests everything that the database's user may put where root reads a file. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type { Cluster } from './cluster.ts';
import { initialise } from './cluster.ts';
import { readForeign } from './foreign-file.ts';
import { findPostmaster } from './postmaster.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lodge-foreign-'));
  file = join(folder, 'file');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a regular file is read from its beginning, as far as such a file goes', async () => {
  assert.equal(await readForeign(file), null);
  writeFileSync(file, '18\n');
  assert.equal(await readForeign(file), '18\n');
  // The file is sparse; reading it whole would take all memory.
  truncateSync(file, 2 ** 40);
  assert.equal((await readForeign(file))!.length, 4096);
});

test('what is no regular file is refused and never waited for', { timeout: 10_000 }, async (t) => {
  const refused = /no regular file/;
  execFileSync('mkfifo', [file]);
  await assert.rejects(readForeign(file), refused);
  rmSync(file);
  symlinkSync('/etc/hostname', file);
  await assert.rejects(readForeign(file), refused);
  rmSync(file);
  mkdirSync(file);
  await assert.rejects(readForeign(file), refused);
  rmSync(file, { recursive: true });
  const server = createServer();
  t.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(file, resolve));
  await assert.rejects(readForeign(file), refused);
});

test('a pipe in place of the lock or the version holds up no start', { timeout: 10_000 }, async () => {
  mkdirSync(join(folder, 'cluster'));
  for (const name of ['postmaster.pid', 'PG_VERSION']) execFileSync('mkfifo', [join(folder, 'cluster', name)]);
  const cluster = { dataDir: folder, cluster: join(folder, 'cluster') } as Cluster;
  assert.equal(await findPostmaster(cluster), null);
  await assert.rejects(initialise(cluster, { major: '18' } as Parameters<typeof initialise>[1]), /no regular file/);
});
