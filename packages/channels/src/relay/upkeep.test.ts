import assert from 'node:assert/strict';
import { mkdtemp, readdir, rename, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createChannelFiles } from '../files/channel-files.ts';
import { sweepFiles } from './upkeep.ts';

const dir = await mkdtemp(join(tmpdir(), 'channel-files-'));
after(() => rm(dir, { recursive: true }));

test('what no row needs goes after an hour, what one needs after two days, and it all was counted', async () => {
  const files = createChannelFiles(dir, { filesOfAgent: 4 });
  const owner = { accountId: 'a', agentId: 'b', way: 'out' } as const;
  async function* none(): AsyncGenerator<Uint8Array> {}
  const write = async (ageMinutes: number): Promise<string> => {
    const { key } = await files.write(owner, none(), 1, new AbortController().signal);
    const at = Date.now() / 1_000 - ageMinutes * 60;
    await utimes(join(dir, key), at, at);
    return key;
  };
  const [young, needed, unneeded, old] = [await write(50), await write(70), await write(70), await write(2_890)];
  const half = unneeded.replace(/\.[0-9]+\./, '.new.');
  const asked: string[] = [];
  const store = {
    failUnsent: () => Promise.resolve(),
    prune: () => Promise.resolve(),
    unneededFiles(keys: readonly string[]) {
      asked.push(...keys);
      return Promise.resolve(keys.filter((key) => key !== needed));
    },
  };
  await sweepFiles(store, files);
  assert.deepEqual(asked.toSorted(), [needed, unneeded].toSorted());
  const kept = async (): Promise<string[]> => (await readdir(join(dir, young.split('/')[0]!))).toSorted();
  assert.deepEqual(await kept(), [young, needed].map((key) => key.split('/')[1]!).toSorted());
  assert.ok(![unneeded, old].includes(await write(0)));
  await rename(join(dir, await write(70)), join(dir, half));
  await assert.rejects(write(0));
  await sweepFiles(store, files);
  assert.equal((await kept()).length, 3, 'what a crash left half written is gone');
});
