/**
 * The cache is what its name says: a Lodge that comes up over an empty one loses no agent, builds nothing, starts agents
 * with what they had and makes new ones. packages/vm/conformance/qemu-cache.test.ts shows the machines in each state while
 * the cache is emptied beneath them, and that a new template is made into an empty one.
 */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { guestClientOf } from '@lodge/testkit/guest';
import { Service } from '@lodge/testkit/service';

const minuteMs = 60_000;
const inMemory = '/dev/shm/thought';
const onDisk = '/workspace/note';
let emptyCache: string;
let service: Service;
const ids = new Map<string, string>();

before(
  async () => {
    emptyCache = await mkdtemp(join(tmpdir(), 'lodge-cache-'));
    await chmod(emptyCache, 0o711);
    service = await Service.start({ entry: new URL('./lodge-with-bare-guests.ts', import.meta.url) });
    await service.awaitTemplate(10 * minuteMs);
    for (const name of ['running', 'stopped']) await create(name);
    await act('stopped', 'stop');
  },
  { timeout: 15 * minuteMs },
);
after(async () => {
  await service?.destroy();
  await rm(emptyCache, { recursive: true, force: true });
});

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

async function keptBy(name: string): Promise<string[]> {
  const guest = await guestClientOf(service.dataDir, ids.get(name)!);
  return [String(Buffer.from(await guest.readFile(onDisk))), String(Buffer.from(await guest.readFile(inMemory)))];
}

test('after a kill, over an empty cache, agents go on and start, others are made, and nothing is built', async () => {
  await service.end('SIGKILL');
  service.env['LODGE_CACHE_DIR'] = emptyCache;
  service.output = '';
  await service.up();
  await service.awaitTemplate(2 * minuteMs);
  const made = await readdir(emptyCache);
  assert.deepEqual(
    made.filter((name) => name === 'images' || name === 'templates'),
    [],
    'nothing was built',
  );
  await act('stopped', 'start');
  assert.deepEqual(await keptBy('stopped'), ['stopped', 'stopped']);
  assert.deepEqual(await keptBy('running'), ['running', 'running']);
  await create('after the kill');
});
