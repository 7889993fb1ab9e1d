import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

const module = JSON.stringify(new URL('keeper.ts', import.meta.url));

/** A process that keeps a folder, where ending it leaves a file beside that. */
async function keeping(
  then: string,
): Promise<{ dataDir: string; ended: string; end: (signal: NodeJS.Signals) => Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'lodge-kept-'));
  const ended = `${dataDir}-ended`;
  const down = JSON.stringify(['touch', ended]);
  const program = `import { keep } from ${module}; const keeper = keep(${down}, process.env); ${then} console.log('kept');`;
  const argv = ['--input-type=module-typescript', '--eval', program];
  const child = spawn(process.execPath, argv, {
    env: { ...process.env, LODGE_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  await once(child.stdout, 'data');
  return {
    dataDir,
    ended,
    async end(signal) {
      child.kill(signal);
      await gone;
    },
  };
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const runsOn = 'setInterval(() => undefined, 1_000);';
/** A signal that changes nothing: the process ends by itself. */
const none = 'SIGCONT';

for (const [how, signal, then] of [
  ['killed', 'SIGKILL', runsOn],
  ['ended by a signal', 'SIGTERM', runsOn],
  ['over', none, ''],
] as const) {
  test(`what a process kept is ended when that is ${how}`, async () => {
    const { dataDir, ended, end } = await keeping(then);
    await end(signal);
    for (const until = Date.now() + 30_000; await isThere(dataDir); await sleep(50)) {
      assert.ok(Date.now() < until, 'it is still there');
    }
    assert.ok(await isThere(ended), 'ended, then removed');
    await rm(ended);
  });
}

test('what was released stays', async () => {
  const { dataDir, ended, end } = await keeping('keeper.release();');
  await end(none);
  await sleep(300);
  assert.deepEqual([await isThere(dataDir), await isThere(ended)], [true, false]);
  await rm(dataDir, { recursive: true });
});
