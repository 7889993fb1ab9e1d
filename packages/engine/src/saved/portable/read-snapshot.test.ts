/** Exports of snapshots on a real database, a fake host and folders that go through tar(1). */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { beforeLastTurn, makeAgentId } from '@lodge/domain';
import { createGuestTrees } from '@lodge/runtimes';
import type { SnapshotRow } from '@lodge/store/snapshots';
import { execute } from '@lodge/testkit/postgres';
import { TreeGuests, treeData } from '@lodge/testkit/tree-guests';
import { FakeHost } from '@lodge/vm/fake';
import { createPortableFiles } from '../../../../../apps/server/src/portable/files.ts';
import { never, running, startPlane, until, World } from '../../../../testkit/src/plane/plane.ts';
import type { Plane } from '../../../../testkit/src/plane/plane.ts';

const words = { agent: () => ({}), schedule: () => ({}) };
const idleMs = 50;
let world: World;
let host: FakeHost;
let guests: TreeGuests;
let plane: Plane;
let folder: string;
before(async () => {
  world = await World.open();
  host = new FakeHost();
  guests = await TreeGuests.open(host);
  folder = await mkdtemp(join(tmpdir(), 'lodge-exports-'));
  const files = createPortableFiles(folder);
  const portable = { trees: createGuestTrees(guests.guestAt), files, maxImportBytes: 2 ** 24 };
  plane = await startPlane(world, host, { portable, data: treeData, openedBounds: { idleMs } });
});
after(async () => {
  await plane.end();
  await guests.close();
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

/** An agent whose file says `plum` in its snapshot, and `pear` now. */
async function saved(): Promise<{ readonly agentId: string; readonly row: SnapshotRow }> {
  const { id: agentId } = await running(world, plane);
  const note = async () => join(await guests.folderOf(agentId), 'workspace/note');
  await writeFile(await note(), 'plum');
  const place = { accountId: world.accountId, agentId, snapshotId: makeAgentId(randomInt) };
  const begun = await plane.snapshots.create(place, { memory: true });
  const row = await plane.snapshots.awaitSaved(begun, 15_000, never);
  await guests.part(agentId);
  await writeFile(await note(), 'pear');
  return { agentId, row };
}

async function exported(agentId: string, snapshot: string | null): Promise<Buffer> {
  const options = { snapshot, passphrase: null, words, wake: false, timeoutMs: 10_000, signal: never };
  const { bytes } = await plane.engine.portable!.export(world.accountId, agentId, options);
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  return gunzipSync(Buffer.concat(parts));
}

const has = (archive: Buffer, text: string): boolean => archive.includes(text);
const sql = <Row extends object>(text: string) => execute<Row>(world.database.connectionString, text);

test('a snapshot of a stopped agent is exported as it was, and the agent stays stopped', async () => {
  const { agentId, row } = await saved();
  await sql(`update snapshots set runtime_version = '1.2.3', size = 'large' where id = '${row.id}'`);
  await plane.agents.act(world.accountId, agentId, 'stop');
  await plane.agents.awaitVerb(world.accountId, agentId, 'stop', 15_000, never);
  for (const snapshot of [row.id, beforeLastTurn]) {
    if (snapshot === beforeLastTurn) await sql(`update agents set turns = turns + 1 where id = '${agentId}'`);
    const archive = await exported(agentId, snapshot);
    assert.deepEqual([has(archive, 'plum'), has(archive, 'pear')], [true, false], snapshot);
    assert.ok(has(archive, '"version": "1.2.3"'), 'the runtime is that of its files');
  }
  assert.equal((await plane.agents.get(world.accountId, agentId)).status, 'stopped');
  assert.ok(host.saved.has(row.id));
  await until('its machine is let go', () => host.vms.size === 1);
  const events = await sql<{ readonly type: string; readonly data: { readonly snapshot_id: string } }>(
    `select type, data from events where agent_id = '${agentId}' and type = 'agent.exported'`,
  );
  assert.deepEqual(
    events.map(({ data }) => data.snapshot_id),
    [row.id, row.id],
  );
});

test('another agent has no such snapshot; one that is not saved, damaged or being exported is refused', async () => {
  const { agentId, row } = await saved();
  const other = await running(world, plane);
  await assert.rejects(exported(other.id, row.id), { code: 'snapshot_not_found' });
  await assert.rejects(exported(agentId, 'aaaaaaaaaaaa'), { code: 'snapshot_not_found' });
  await assert.rejects(exported('aaaaaaaaaaaa', row.id), { code: 'agent_not_found' });
  const reached = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  guests.before = () => {
    reached.resolve();
    return goOn.promise;
  };
  const first = exported(agentId, row.id);
  await reached.promise;
  await assert.rejects(exported(agentId, row.id), { code: 'snapshot_not_ready' });
  goOn.resolve();
  assert.ok(has(await first, 'plum'));
  await sql(`update snapshots set status = 'saving' where id = '${row.id}'`);
  await assert.rejects(exported(agentId, row.id), { code: 'snapshot_not_ready' });
  await sql(`update snapshots set status = 'damaged', error = 'Gone.' where id = '${row.id}'`);
  await assert.rejects(exported(agentId, row.id), { code: 'snapshot_damaged' });
});

test('one whose files cannot be read may be exported again, and leaves nothing', async () => {
  const { agentId, row } = await saved();
  guests.before = () => Promise.reject(new Error('the daemon says nothing'));
  await assert.rejects(exported(agentId, row.id), { code: 'agent_unavailable', retryAfterSeconds: 10 });
  guests.before = () => Promise.resolve();
  assert.ok(has(await exported(agentId, row.id), 'plum'));
  assert.ok(has(await exported(agentId, null), 'pear'));
  assert.equal(await readFile(join(await guests.folderOf(agentId), 'workspace/note'), 'utf8'), 'pear');
  assert.deepEqual(await readdir(folder), []);
});
