/**
 * Kills at random moments during verbs on four agents, and what needs a fault of its own: a full disk, a clock that jumps, damage.
 * The guarantee: nothing acknowledged is lost, nothing is orphaned, nobody is stuck, and what is damaged is not loaded.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { open, readdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { guestClientOf } from '@lodge/testkit/guest';
import { formOf } from '@lodge/testkit/forms';
import { Service } from '@lodge/testkit/service';
import { FaultWorld, faultRun } from './fault-world.ts';
import { holdings } from './holdings.ts';

const run = promisify(execFile);
const seed = Number(process.env['FAULT_SEED'] ?? randomInt(2 ** 31));
const kills = formOf({ short: 6, long: 200 });
let service: Service;
let world: FaultWorld;

before(
  async () => {
    service = await Service.start({ entry: new URL('./lodge-with-bare-guests.ts', import.meta.url) });
    await service.awaitTemplate(10 * 60_000);
    world = new FaultWorld([service], seed);
    await world.create(4);
  },
  { timeout: 15 * 60_000 },
);
after(() => service?.destroy());

test(
  `${kills} kills during verbs on four agents`,
  { timeout: formOf({ short: 20, long: 180 }) * 60_000 },
  async (t) => {
    await faultRun(world, kills, 4).catch((error: unknown) => {
      throw new Error(`seed ${seed}\n${service.output.slice(-8_000)}`, { cause: error });
    });
    t.diagnostic(JSON.stringify(world.figures));
  },
);

async function agent(): Promise<string> {
  const lifecycle = { idle_timeout_seconds: 0 };
  const { status, body } = await service.call('POST', '/agents', { name: 'Faulty', size: 'small', lifecycle });
  assert.equal(status, 201, JSON.stringify(body));
  return body.id as string;
}

const status = async (id: string): Promise<{ status: string; status_reason: { code: string } | null }> =>
  (await service.call('GET', `/agents/${id}`)).body;

async function verb(id: string, name: string): Promise<{ status: number; body: Record<string, unknown> }> {
  return service.call('POST', `/agents/${id}/${name}`);
}

test(
  'a disk that is full during a stop leaves the agent running, and it says so',
  { timeout: 20 * 60_000 },
  async () => {
    const id = await agent();
    const folder = join(service.dataDir, 'vms', id);
    // The agent's folder on a small file system: what is open already stays open, what is new is written there.
    await verb(id, 'stop');
    const small = `${folder}.small`;
    await run('mkdir', ['-m', '711', small]);
    await run('mount', ['-t', 'tmpfs', '-o', 'size=600m,mode=711', 'tmpfs', small]);
    try {
      await run('cp', ['-a', `${folder}/.`, small]);
      await run('mount', ['--move', small, folder]);
      await rm(small, { recursive: true });
      assert.equal((await verb(id, 'start')).status, 200);
      const { bavail, bsize } = await statfs(folder);
      const filler = join(folder, 'filler');
      await run('fallocate', ['-l', String(bavail * bsize - 512 * 1024), filler]);
      const refused = await verb(id, 'stop');
      assert.equal(refused.status, 500, JSON.stringify(refused.body));
      const left = await status(id);
      assert.equal(left.status, 'running');
      assert.equal(left.status_reason?.code, 'snapshot_failed');
      await (await world.guest(id)).health();
      await rm(filler);
      const stopped = await verb(id, 'stop');
      assert.equal(stopped.status, 200, JSON.stringify(stopped.body));
      assert.equal((await status(id)).status, 'stopped');
      assert.equal((await verb(id, 'start')).status, 200);
    } finally {
      await service.call('DELETE', `/agents/${id}`);
      await run('umount', ['-l', folder]).catch(() => undefined);
      await run('umount', ['-l', small]).catch(() => undefined);
      await rm(folder, { recursive: true, force: true });
      await rm(small, { recursive: true, force: true });
    }
  },
);

test(
  'a damaged snapshot is not loaded: the agent starts from its disk and says so',
  { timeout: 20 * 60_000 },
  async () => {
    const id = await agent();
    const guest = await world.guest(id);
    await guest.writeFile('/workspace/kept', 'on the disk', { mode: 0o644, owner: 'root' });
    assert.equal((await verb(id, 'stop')).status, 200);
    const snapshot = join(service.dataDir, 'vms', id, 'snapshot');
    const memory = (await readdir(snapshot)).find((name) => name.startsWith('memory'));
    assert.ok(memory, `no memory in ${snapshot}`);
    await flipByte(join(snapshot, memory));
    const started = await verb(id, 'start');
    assert.ok(started.status === 200 || started.status === 202, JSON.stringify(started.body));
    const { body } = await service.call('GET', `/agents/${id}?wait_for=running&timeout=200`);
    assert.equal(body.status, 'running', JSON.stringify(body));
    const again = await world.guest(id);
    assert.equal(Buffer.from(await again.readFile('/workspace/kept')).toString(), 'on the disk');
    const logs = await service.call('GET', `/agents/${id}/logs?source=system&level=warn`);
    assert.match(JSON.stringify(logs.body.data), /snapshot/i);
    await service.call('DELETE', `/agents/${id}`);
  },
);

async function flipByte(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const { size } = await file.stat();
    const byte = Buffer.alloc(1);
    const at = Math.floor(size / 2);
    await file.read(byte, 0, 1, at);
    byte[0] = byte[0]! ^ 0xff;
    await file.write(byte, 0, 1, at);
  } finally {
    await file.close();
  }
}

test('a clock that jumps strands nobody and fires nothing early', { timeout: 20 * 60_000 }, async () => {
  const jumping = await Service.start({ entry: new URL('./lodge-with-jumping-clock.ts', import.meta.url) });
  try {
    await jumping.awaitTemplate(10 * 60_000);
    const { body } = await jumping.call('POST', '/agents', { name: 'Timeless', size: 'small' });
    const id = body.id as string;
    // The control plane's clock goes two hours ahead in the midst of a restart, then back.
    const restart = jumping.call('POST', `/agents/${id}/restart`);
    process.kill(jumping.pid, 'SIGUSR2');
    assert.ok((await restart).status < 300, JSON.stringify((await restart).body));
    const after = await jumping.call('GET', `/agents/${id}?wait_for=running&timeout=200`);
    assert.equal(after.body.status, 'running', JSON.stringify(after.body));
    assert.equal((await jumping.call('POST', `/agents/${id}/stop`)).status, 200);
    process.kill(jumping.pid, 'SIGUSR2');
    assert.equal((await jumping.call('POST', `/agents/${id}/start`)).status, 200);
    // The guest's clock is the host's, whatever it was when it was saved.
    const guest = await guestClientOf(jumping.dataDir, id);
    const asked = Date.now() / 1000;
    const date = await guest.exec({ argv: ['/bin/date', '+%s'], timeoutMs: 60_000 });
    const told = Number(date.stdout);
    assert.ok(told > asked - 30 && told < Date.now() / 1000 + 30, `the guest has ${date.stdout}`);
  } finally {
    await jumping.destroy();
  }
});

test('a damaged template is noticed, not loaded, and made again', { timeout: 15 * 60_000 }, async () => {
  const cacheDir = join(service.dataDir, 'cache');
  const env = { LODGE_CACHE_DIR: cacheDir };
  // A cache of its own: nobody else's template is damaged. The image is the shared one.
  await run('mkdir', ['-m', '711', cacheDir]);
  await run('cp', ['-al', `${process.env['LODGE_CACHE_DIR'] ?? '/var/cache/lodge'}/images`, cacheDir]);
  const own = await Service.start({ env, entry: new URL('./lodge-with-bare-guests.ts', import.meta.url) });
  try {
    await own.awaitTemplate(10 * 60_000);
    await own.end('SIGTERM');
    const templates = join(cacheDir, 'templates');
    for (const name of await readdir(templates)) {
      const memory = join(templates, name, 'memory');
      await flipByte(memory).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
      });
    }
    own.output = '';
    await own.up();
    await own.awaitTemplate(10 * 60_000);
    const { status, body } = await own.call('POST', '/agents', { name: 'Whole', size: 'small' });
    assert.ok(status === 201 || status === 202, JSON.stringify(body));
    const wait = await own.call('GET', `/agents/${body.id}?wait_for=running&timeout=240`);
    assert.equal(wait.body.status, 'running', JSON.stringify(wait.body));
    assert.ok((await readdir(templates)).length >= 1);
  } finally {
    await own.destroy();
    await rm(cacheDir, { recursive: true, force: true });
  }
});

test('when all agents are deleted the host holds nothing of them', { timeout: 20 * 60_000 }, async () => {
  const { body } = await service.call('GET', '/agents?limit=100');
  for (const { id } of body.data as { id: string }[]) {
    assert.equal((await service.call('DELETE', `/agents/${id}`)).status, 200);
  }
  assert.deepEqual(await holdings(service.dataDir, service.instance), {
    emulators: [],
    namespaces: 0,
    links: 0,
    folders: [],
  });
});
