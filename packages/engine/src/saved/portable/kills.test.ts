/** Imports and exports that are cut short: whatever is killed on the way, there is one agent with its files, and no file is left. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createGuestTrees } from '@lodge/runtimes';
import { TreeGuests, treeData } from '@lodge/testkit/tree-guests';
import { fakeSteps, FakeHost } from '@lodge/vm/fake';
import { createPortableFiles } from '../../../../../apps/server/src/portable/files.ts';
import { input, never, running, silent, startPlane, until, World } from '../../../../testkit/src/plane/plane.ts';
import type { Plane } from '../../../../testkit/src/plane/plane.ts';
import { ImportKeeper } from './keeper.ts';

let world: World;
let folder: string;
before(async () => {
  world = await World.open();
  folder = await mkdtemp(join(tmpdir(), 'lodge-imports-'));
});
after(async () => {
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

const words = { agent: () => ({}), schedule: () => ({}) };
const find = async (id: string) => (await world.store.agents.find(id))!;

class Site {
  readonly host = new FakeHost();
  readonly files = createPortableFiles(folder);
  guests!: TreeGuests;

  static async open(): Promise<Site> {
    const site = new Site();
    site.guests = await TreeGuests.open(site.host);
    return site;
  }

  plane(): Promise<Plane> {
    const portable = { trees: createGuestTrees(this.guests.guestAt), files: this.files, maxImportBytes: 2 ** 24 };
    return startPlane(world, this.host, { portable, data: treeData });
  }

  /** The export of an agent with one file. */
  async packed(plane: Plane): Promise<Buffer> {
    const { id } = await running(world, plane);
    await writeFile(join(await this.guests.folderOf(id), 'workspace/word'), 'plum');
    const options = { snapshot: null, passphrase: null, words, wake: false, timeoutMs: 10_000, signal: never };
    const { bytes } = await plane.engine.portable!.export(world.accountId, id, options);
    const parts: Uint8Array[] = [];
    for await (const part of bytes) parts.push(part);
    return Buffer.concat(parts);
  }

  async import(plane: Plane, packed: Buffer, id: string): Promise<void> {
    const portable = plane.engine.portable!;
    const settings = {
      agent: { ...input, name: 'Imported', runtimeKind: 'runtime_a', size: 'small' } as const,
      members: [],
      schedules: [],
      missing: [],
    };
    const body = (async function* () {
      yield packed;
    })();
    const options = { passphrase: null, check: () => settings, signal: never };
    await portable.create(world.accountId, await portable.receive(world.accountId, body, options), { id });
  }

  /** Asserts that the agent runs with the file, and that the keeper leaves nothing. */
  async whole(id: string): Promise<void> {
    const row = await find(id);
    assert.deepEqual([row.status, row.operation, row.nextImport], ['running', null, null]);
    assert.equal(await readFile(join(await this.guests.folderOf(id), 'workspace/word'), 'utf8'), 'plum');
    await this.keep();
    assert.deepEqual(await readdir(folder), []);
  }

  async keep(): Promise<void> {
    const { database } = world.store;
    const keeper = new ImportKeeper({ database, files: this.files, log: silent, everyMs: 10, untouchedMs: -1_000 });
    keeper.start();
    await new Promise((resolve) => setTimeout(resolve, 200));
    await keeper.stop();
  }
}

let count = 0;
const newId = (): string => `imported${String.fromCharCode(97 + Math.floor((count += 1) / 26), 97 + (count % 26))}aa`;

const moments: readonly (readonly [string, number])[] = [
  ...fakeSteps.map((step) => [step, 0] as const),
  ['write', 0],
  ...fakeSteps.map((step) => [step, 1] as const),
];

for (const [moment, passes] of moments) {
  test(`a kill at ${moment} of the ${passes === 0 ? 'clone' : 'boot'} is followed by an agent with its files`, async () => {
    const site = await Site.open();
    const first = await site.plane();
    const packed = await site.packed(first);
    const reached = Promise.withResolvers<void>();
    const id = newId();
    let seen = 0;
    const stop = (at: string): Promise<void> => {
      if (at !== moment || (seen += 1) <= passes) return Promise.resolve();
      reached.resolve();
      return new Promise(() => undefined);
    };
    site.host.behaviour = stop;
    site.guests.before = stop;
    await site.import(first, packed, id);
    await reached.promise;
    await site.keep();
    assert.equal((await readdir(folder)).length, 1, 'its file waits for it');
    first.kill();
    site.host.behaviour = () => Promise.resolve();
    site.guests.before = () => Promise.resolve();
    const second = await site.plane();
    await until('it runs', async () => (await find(id)).status === 'running');
    await site.whole(id);
    await second.end();
    await site.guests.close();
  });
}

test('a kill while a running agent is read leaves it running, with its gateway open', async () => {
  const site = await Site.open();
  const first = await site.plane();
  const reached = Promise.withResolvers<void>();
  site.guests.before = () => {
    reached.resolve();
    return new Promise(() => undefined);
  };
  void site.packed(first).catch(() => undefined);
  await reached.promise;
  first.kill();
  site.guests.before = () => Promise.resolve();
  const second = await site.plane();
  const all = async () => (await world.store.agents.all()).filter(({ desired }) => desired === 'running');
  await until('the operation has ended', async () => (await all()).every(({ operation }) => operation === null));
  const [row] = (await all()).filter(({ vmAddress }) => vmAddress !== null && site.host.guestAt(vmAddress) !== null);
  assert.equal(row!.status, 'running');
  assert.equal(site.host.guestAt(row!.vmAddress!)!.guest.memory.has('suspended'), false);
  assert.deepEqual(await readdir(folder), [], 'a scratch file has no name');
  await second.end();
  await site.guests.close();
});

test('an import whose agent is deleted, or never made, is removed; one whose file is gone says so', async () => {
  const site = await Site.open();
  const plane = await site.plane();
  const packed = await site.packed(plane);
  site.guests.before = (what) => (what === 'write' ? new Promise(() => undefined) : Promise.resolve());
  const deleted = newId();
  await site.import(plane, packed, deleted);
  await until('it is being laid', async () => (await find(deleted)).executionId !== null);
  await plane.agents.delete(world.accountId, deleted, never);
  await site.files.keep('neverwasmade', (async function* () {})());
  await site.keep();
  assert.deepEqual(await readdir(folder), []);
  site.guests.before = () => Promise.resolve();
  const gone = newId();
  site.host.behaviour = async () => {
    for (const name of await readdir(folder)) await rm(join(folder, name));
  };
  await site.import(plane, packed, gone);
  await until('it is in error', async () => (await find(gone)).status === 'error');
  assert.match((await find(gone)).statusReason!.message, /imported from is gone/);
  site.host.behaviour = () => Promise.resolve();
  await plane.end();
  await site.guests.close();
});
