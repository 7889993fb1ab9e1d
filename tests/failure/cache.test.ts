/**
 * The cache is what its name says: emptied under a Lodge with agents in every state, none is lost, all start with what they
 * had, new ones are made, and so it is after a kill. The steps of the driver are in packages/vm/conformance/qemu-cache.test.ts.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { guestClientOf } from '@lodge/testkit/guest';
import { Service } from '@lodge/testkit/service';
import { emulators } from './holdings.ts';

const run = promisify(execFile);
const minuteMs = 60_000;
const shared = process.env['LODGE_CACHE_DIR'] ?? '/var/cache/lodge';
const inMemory = '/dev/shm/thought';
const onDisk = '/workspace/note';
let cacheDir: string;
let service: Service;
const ids = new Map<string, string>();

before(
  async () => {
    // A cache of its own, with the images of the shared one: building them takes minutes.
    cacheDir = await mkdtemp(join(tmpdir(), 'lodge-cache-'));
    await fillCache();
    const entry = new URL('./lodge-with-bare-guests.ts', import.meta.url);
    service = await Service.start({ entry, env: { LODGE_CACHE_DIR: cacheDir } });
    await service.awaitTemplate(10 * minuteMs);
    for (const name of ['running', 'paused', 'stopped', 'killed']) await create(name);
  },
  { timeout: 15 * minuteMs },
);
after(async () => {
  await service?.destroy();
  await rm(cacheDir, { recursive: true, force: true });
});

async function fillCache(): Promise<void> {
  await run('mkdir', ['-p', '-m', '711', cacheDir]);
  await run('chmod', ['711', cacheDir]);
  for (const kind of ['images', 'parts']) await run('cp', ['-al', join(shared, kind), cacheDir]);
}

async function create(name: string): Promise<void> {
  const lifecycle = { idle_timeout_seconds: 0 };
  const { status, body } = await service.call('POST', '/agents', { name, size: 'small', lifecycle });
  assert.equal(status, 201, JSON.stringify(body));
  ids.set(name, body.id as string);
  const guest = await guestClientOf(service.dataDir, body.id);
  for (const path of [inMemory, onDisk]) await guest.writeFile(path, name, { mode: 0o644, owner: 'root' });
}

async function act(name: string, verb: string): Promise<void> {
  const { status, body } = await service.call('POST', `/agents/${ids.get(name)}/${verb}`);
  assert.equal(status, 200, `${name} ${verb}: ${JSON.stringify(body)}`);
}

async function keptBy(name: string): Promise<(string | null)[]> {
  const guest = await guestClientOf(service.dataDir, ids.get(name)!);
  const read = (path: string): Promise<string | null> =>
    guest.readFile(path).then(
      (bytes) => Buffer.from(bytes).toString(),
      () => null,
    );
  return [await read(onDisk), await read(inMemory)];
}

test('emptied, all agents go on and start, and another is made', { timeout: 10 * minuteMs }, async () => {
  await act('paused', 'pause');
  await act('stopped', 'stop');
  await rm(cacheDir, { recursive: true });
  process.kill((await emulators(service.dataDir)).get(ids.get('killed')!)!, 'SIGKILL');
  assert.deepEqual(await keptBy('running'), ['running', 'running']);
  await act('paused', 'resume');
  assert.deepEqual(await keptBy('paused'), ['paused', 'paused']);
  await act('stopped', 'start');
  assert.deepEqual(await keptBy('stopped'), ['stopped', 'stopped']);
  const deadline = Date.now() + 5 * minuteMs;
  while ((await service.call('GET', `/agents/${ids.get('killed')}`)).body.status !== 'running') {
    assert.ok(Date.now() < deadline, service.output.slice(-4_000));
    await sleep(200);
  }
  assert.deepEqual(await keptBy('killed'), ['killed', null], 'it was booted from its disk');
  await create('new');
});

test(
  'after a kill, with the cache still empty, creates need no image and no template of it',
  { timeout: 10 * minuteMs },
  async () => {
    await act('stopped', 'stop');
    await service.end('SIGKILL');
    service.output = '';
    await service.up();
    await service.awaitTemplate(2 * minuteMs);
    const made = await readdir(cacheDir);
    assert.deepEqual(
      made.filter((name) => name === 'images' || name === 'templates'),
      [],
      'nothing was built',
    );
    await act('stopped', 'start');
    assert.deepEqual(await keptBy('stopped'), ['stopped', 'stopped']);
    assert.deepEqual(await keptBy('running'), ['running', 'running']);
    await create('after the kill');
  },
);

test(
  'a new release makes its template in the empty cache, and the agents of before start',
  { timeout: 15 * minuteMs },
  async () => {
    await act('stopped', 'stop');
    await service.end('SIGTERM');
    service.env['BARE_RELEASE'] = '2';
    service.output = '';
    await fillCache();
    await service.up();
    await service.awaitTemplate(10 * minuteMs);
    assert.equal((await readdir(join(cacheDir, 'templates'))).length, 1);
    assert.equal((await readdir(join(service.dataDir, 'templates'))).length, 2);
    await rm(cacheDir, { recursive: true });
    await create('of the new release');
    await act('stopped', 'start');
    assert.deepEqual(await keptBy('stopped'), ['stopped', 'stopped']);
  },
);
