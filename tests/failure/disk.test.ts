/**
 * Guests fill the disk that they share with the database, all at once. The guarantees: the database never stops, who
 * writes is paused before the disk is full and told why, who does not write goes on, and every agent starts afterwards.
 * The disk is a small file system of its own. It has a copy of the template, for the cache is on another.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { formOf } from '@lodge/testkit/forms';
import { Service } from '@lodge/testkit/service';
import { Client } from 'pg';
import { databasePid, FaultWorld } from './fault-world.ts';

const run = promisify(execFile);
const floorMib = 1024;
const { writers, disk: size } = formOf({ short: { writers: 4, disk: '3500m' }, long: { writers: 10, disk: '5g' } });
/** Together more than the disk has; past the guest's own memory, so that it is written out at once; not zeros, which take no room. */
const fill = [
  'yes full | head -c 4M > /dev/shm/block',
  'for i in $(seq 150)',
  'do dd if=/dev/shm/block of=/workspace/fill bs=4M oflag=append,direct conv=notrunc status=none || exit 1',
  'done',
].join('; ');
const marker = '/workspace/marker';

let disk: string;
let service: Service;
let world: FaultWorld;

const mount = (size: string, ...more: string[]) =>
  run('mount', ['-t', 'tmpfs', '-o', [`size=${size},mode=711`, ...more].join(','), 'tmpfs', disk]);

before(
  async () => {
    disk = await mkdtemp(join(tmpdir(), 'lodge-disk-'));
    await mount(size);
    process.env['TMPDIR'] = disk;
    const settings = {
      LODGE_DISK_FLOOR_MIB: String(floorMib),
      LODGE_DISK_RESERVED_MIB: '64',
      LODGE_DISK_OVERCOMMIT: '64',
    };
    const env = { ...settings, LODGE_MEMORY_OVERCOMMIT: '16' };
    service = await Service.start({ entry: new URL('./lodge-with-bare-guests.ts', import.meta.url), env });
    await service.awaitTemplate(10 * 60_000);
    world = new FaultWorld([service], 0);
    await world.create(writers + 2);
  },
  { timeout: 15 * 60_000 },
);
after(async () => {
  await service?.destroy();
  delete process.env['TMPDIR'];
  await run('umount', ['-l', disk]);
  await rm(disk, { recursive: true });
});

const record = async (id: string) => (await service.call('GET', `/agents/${id}`)).body;
const act = (id: string, verb: string) => service.call('POST', `/agents/${id}/${verb}`);
const freeMib = async (): Promise<number> => {
  const { bavail, bsize } = await statfs(disk);
  return (bavail * bsize) / 2 ** 20;
};

/** Writes to the database without a pause until it is stopped; returns the errors and the least room there was. */
function watchDatabase(client: Client) {
  const seen = { rows: 0, failures: new Set<string>(), leastFreeMib: Infinity };
  const over = new AbortController();
  const work = (async () => {
    await client.query('create table watched (n int, padding text)');
    while (!over.signal.aborted) {
      seen.leastFreeMib = Math.min(seen.leastFreeMib, await freeMib());
      const row = [seen.rows, 'x'.repeat(10_000)];
      await client.query('insert into watched values ($1, $2)', row).catch((error: Error) => {
        seen.failures.add(error.message);
      });
      seen.rows += 1;
      await sleep(20);
    }
  })();
  return {
    async end() {
      over.abort();
      await work;
      return seen;
    },
  };
}

test(`${writers} guests fill the disk at once`, { timeout: 20 * 60_000 }, async (t) => {
  const ids = world.agents.map(({ id }) => id);
  const [bystander, asleep, ...filling] = ids as [string, string, ...string[]];
  assert.equal((await act(asleep, 'stop')).status, 200);
  const pid = await databasePid(service.dataDir);
  const client = new Client(service.databaseUrl);
  await client.connect();
  const watch = watchDatabase(client);
  const over = new AbortController();
  t.after(() => over.abort());
  for (const id of filling) {
    const timeoutMs = 10 * 60_000;
    // It ends when its guest is frozen for too long, or is done.
    const writing = (await world.guest(id)).exec(
      { argv: ['sh', '-c', fill], user: 'root', timeoutMs },
      { timeoutMs, signal: over.signal },
    );
    writing.catch(() => undefined);
  }
  // Some may have written all of theirs before their turn came: what counts is that nobody writes any more.
  let paused: string[] = [];
  for (let lastMib = await freeMib(), calm = 0; calm < 10 || paused.length === 0;) {
    await sleep(1_000);
    const nowMib = await freeMib();
    calm = Math.abs(nowMib - lastMib) < 2 ? calm + 1 : 0;
    lastMib = nowMib;
    const records = await Promise.all(filling.map(record));
    paused = records.filter(({ status }) => status === 'paused').map(({ id }) => id as string);
    for (const { status_reason: reason } of records.filter(({ status }) => status === 'paused')) {
      assert.equal(reason.code, 'host_disk_full');
      assert.match(reason.message, /short of disk space/);
    }
  }
  const { failures, rows, leastFreeMib } = await watch.end();
  await client.end();
  t.diagnostic(JSON.stringify({ paused: paused.length, leastFreeMib: Math.round(leastFreeMib), rows }));
  const told = service.output.split('\n').filter((line) => !line.includes('"msg":"request"'));
  assert.deepEqual([...failures], [], told.slice(-200).join('\n'));
  assert.equal(await databasePid(service.dataDir), pid, 'the database is the same process');
  assert.ok(leastFreeMib > 0 && paused.length > 0, told.slice(-200).join('\n'));

  assert.equal((await record(bystander)).status, 'running');
  await (await world.guest(bystander)).health();
  const refused = await Promise.all([
    service.call('POST', '/agents', { name: 'One more', size: 'small' }),
    act(asleep, 'start'),
    act(paused[0]!, 'resume'),
  ]);
  for (const { status, headers, body } of refused) {
    assert.deepEqual([status, body.error?.code], [503, 'insufficient_capacity'], JSON.stringify(body));
    assert.ok(Number(headers.get('retry-after')) > 0);
  }
  const events = (await service.call('GET', `/agents/${paused[0]}/logs?limit=50`)).body.data as { message: string }[];
  assert.ok(events.some(({ message }) => message.includes('short of disk space')));
  const written = (await record(paused[0]!)).disk;
  assert.ok(written.limit_gb === 10 && written.used_gb > 0);

  await mount('10g', 'remount');
  for (const id of ids) {
    const started = await act(id, 'start');
    assert.equal(started.status, 200, JSON.stringify(started.body));
    const kept = await (await world.guest(id)).readFile(marker);
    assert.equal(Buffer.from(kept).toString(), `kept by ${id}`);
  }
});
