/** The emulator of this host, with the timing of a very slow host. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { architecture } from './architecture.ts';
import { inspectEmulator } from './emulator.ts';

test('an emulator that takes a quarter of a minute to answer is asked all the same', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lodge-emulator-'));
  const { PATH = '' } = process.env;
  const program = join(folder, architecture.emulator);
  await writeFile(program, `#!/bin/sh\nsleep 15\nPATH='${PATH}' exec ${architecture.emulator} "$@"\n`);
  await chmod(program, 0o755);
  process.env['PATH'] = `${folder}:${PATH}`;
  try {
    assert.match((await inspectEmulator()).version, /^QEMU emulator version \d/);
  } finally {
    process.env['PATH'] = PATH;
    await rm(folder, { recursive: true });
  }
});
