import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cache, type Making } from './cache.ts';

let folder = '';
let builders: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync('/tmp/lodge-cache-');
});
afterEach(async () => {
  for (const builder of builders) {
    if (builder.exitCode !== null || builder.signalCode !== null) continue;
    builder.kill('SIGKILL');
    await once(builder, 'exit');
  }
  builders = [];
  rmSync(folder, { recursive: true });
});

const quiet = (): void => undefined;
const never = new AbortController().signal;

const making = (content: string, done?: () => void): Making => ({
  shelf: 'images',
  name: 'x',
  title: 'x',
  make: async (draft) => {
    await writeFile(join(draft, 'root-1.qcow2'), content);
    await writeFile(join(draft, 'kernel'), 'kernel');
    done?.();
    return { content };
  },
});

/** A builder in a separate process. It writes a line into `made` when it begins and goes on once `go` is there. */
function builder(): ChildProcess {
  const program = `
    import { existsSync } from 'node:fs';
    import { appendFile, writeFile } from 'node:fs/promises';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { Cache } from ${JSON.stringify(join(import.meta.dirname, 'cache.ts'))};
    const make = async (draft) => {
      await writeFile(draft + '/file', 'half');
      await appendFile(${JSON.stringify(join(folder, 'made'))}, 'made\\n');
      while (!existsSync(${JSON.stringify(join(folder, 'go'))})) await sleep(10);
      await writeFile(draft + '/file', 'whole');
      return {};
    };
    const cache = new Cache(${JSON.stringify(folder)});
    await cache.ensure({ shelf: 'images', name: 'y', title: 'y', make }, (step) => console.log(step), new AbortController().signal);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  builders.push(child);
  return child;
}

const beginnings = (): number => {
  const file = join(folder, 'made');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
};

const go = (): Promise<void> => writeFile(join(folder, 'go'), '');

async function begun(count: number): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (beginnings() < count) {
    assert.ok(Date.now() < deadline, 'the builder did not begin');
    await sleep(10);
  }
}

test('of several builders one makes it and the others wait for it', async () => {
  const first = builder();
  await begun(1);
  const others = [builder(), builder()];
  const said: string[] = [];
  const ends = [first, ...others].map((each) => once(each, 'close'));
  for (const other of others) other.stdout?.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  while (said.length < 2) await sleep(10);
  await go();
  assert.deepEqual(
    await Promise.all(ends),
    [0, 1, 2].map(() => [0, null]),
  );
  assert.equal(beginnings(), 1);
  assert.equal(said.join(''), 'waiting for another builder of y\n'.repeat(2));
  assert.equal(readFileSync(join(folder, 'images/y/file'), 'utf8'), 'whole');
  assert.deepEqual(readdirSync(join(folder, 'drafts')), []);
});

test('a killed builder leaves its work to the next one, and nothing half-made is ever found', async () => {
  const killed = builder();
  await begun(1);
  killed.kill('SIGKILL');
  await once(killed, 'close');
  const cache = new Cache(folder);
  assert.equal(await cache.find({ shelf: 'images', name: 'y' }), null);
  assert.equal(readdirSync(join(folder, 'drafts')).length, 1);
  // The helper that held the killed builder's lock notices its end a moment later.
  const deadline = Date.now() + 5_000;
  do await cache.collectDrafts();
  while (readdirSync(join(folder, 'drafts')).length > 0 && Date.now() < deadline);
  assert.deepEqual(readdirSync(join(folder, 'drafts')), []);
  await go();
  assert.deepEqual(await once(builder(), 'close'), [0, null]);
  assert.equal(beginnings(), 2);
});

test('drafts of a builder that is at work are left alone', async () => {
  const busy = builder();
  const ended = once(busy, 'close');
  await begun(1);
  await new Cache(folder).collectDrafts();
  await go();
  assert.deepEqual(await ended, [0, null]);
  assert.equal(readFileSync(join(folder, 'images/y/file'), 'utf8'), 'whole');
});

test('waiting for another builder ends when the signal aborts', async () => {
  const busy = builder();
  const ended = once(busy, 'close');
  await begun(1);
  const cache = new Cache(folder);
  const stop = AbortSignal.timeout(100);
  const waiting = cache.ensure({ ...making('z'), name: 'y' }, quiet, stop);
  await assert.rejects(waiting, { name: 'TimeoutError' });
  await go();
  assert.deepEqual(await ended, [0, null]);
});

test('a failed build leaves nothing, and the next one is free to begin', async () => {
  const cache = new Cache(folder);
  const failing = { ...making('x'), make: () => Promise.reject(new Error('no network')) };
  await assert.rejects(cache.ensure(failing, quiet, never), /no network/);
  assert.deepEqual(readdirSync(join(folder, 'drafts')), []);
  assert.deepEqual((await cache.ensure(making('x'), quiet, never)).facts, { content: 'x' });
});

test('a file of another size is damage: it is made again, and a disk that others may lie over stays', async () => {
  const cache = new Cache(folder);
  await cache.ensure(making('first'), quiet, never);
  let made = 0;
  await cache.ensure(
    making('second', () => (made += 1)),
    quiet,
    never,
  );
  assert.equal(made, 0, 'what is whole is not made again');

  const image = cache.folderOf(making(''));
  truncateSync(join(image, 'kernel'), 3);
  assert.equal(await cache.find(making('')), null);
  const again = {
    ...making('second'),
    make: async (draft: string) => {
      await writeFile(join(draft, 'root-2.qcow2'), 'second');
      await writeFile(join(draft, 'kernel'), 'kernel');
      return {};
    },
  };
  const artifact = await cache.ensure(again, quiet, never);
  assert.deepEqual(Object.keys(artifact.files), ['kernel', 'root-2.qcow2']);
  assert.equal(readFileSync(join(image, 'root-1.qcow2'), 'utf8'), 'first');
  assert.equal(statSync(join(image, 'kernel')).size, 6);

  await appendFile(join(image, 'manifest.json'), 'x');
  assert.equal(await cache.find(making('')), null, 'a manifest that cannot be read is damage too');
});
