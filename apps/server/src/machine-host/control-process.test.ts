import assert from 'node:assert/strict';
import { chmod, mkdtemp, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../config/config.ts';
import { startControlProcess } from './control-process.ts';

const skip = process.geteuid!() === 0 ? false : 'only root becomes another user';

test('the control plane shares no open file of root: with one it could empty the log', { skip }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lodge-control-'));
  try {
    await chmod(folder, 0o755);
    const entry = join(folder, 'entry.cjs');
    await writeFile(entry, 'setInterval(() => undefined, 1e6)');
    const started = await startControlProcess({
      entry,
      user: { name: 'daemon', uid: 1, gid: 1 },
      group: { through: [] },
      ownFolder: folder,
      env: { PATH: process.env['PATH'] },
      config: readConfig({ LODGE_DATA_DIR: folder }),
    });
    const files = (pid: number | 'self', fds: readonly number[]) =>
      Promise.all(fds.map((fd) => readlink(`/proc/${pid}/fd/${fd}`)));
    const [its, ours] = [await files(started.pid, [1, 2]), await files('self', [0, 1, 2])];
    started.kill();
    assert.equal(await started.ended, 1);
    assert.deepEqual(
      its.filter((file) => ours.includes(file) || file.startsWith('/')),
      [],
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});
