/**
 * Packages of agents, on a real database and the fake host: the wanted ones come into the machine beside everything else,
 * whatever was killed or failed on the way, and the sources are open for that time alone.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { GuestPackages, InstallEnd, WantedPackages } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import { logPage } from '@lodge/store/logs';
import { FakeHost } from '@lodge/vm/fake';
import { never, running, startPlane, until, World } from '../../../../testkit/src/plane/plane.ts';

let world: World;
before(async () => {
  world = await World.open();
});
after(() => world.close());

const find = async (id: string): Promise<AgentRow> => (await world.store.agents.find(id))!;
const jq = { apt: ['jq'], pip: [], npm: [] };
const failing: InstallEnd = {
  kind: 'failed',
  manager: 'apt',
  why: { kind: 'ended', status: 100 },
  lastLines: ['E: Unable to locate package jq', '\u001b[31mtoken=sk-ant-REDACTED\u001b[0m'],
};

/** Installs in no guest: each install waits until the test ends it. */
class Guests implements GuestPackages {
  readonly begun: WantedPackages[] = [];
  readonly aborted: string[] = [];
  private ends: PromiseWithResolvers<InstallEnd>[] = [];

  async install(_: unknown, wanted: WantedPackages, signal: AbortSignal): Promise<InstallEnd> {
    this.begun.push(wanted);
    const end = Promise.withResolvers<InstallEnd>();
    this.ends.push(end);
    signal.addEventListener('abort', () => this.aborted.push(wanted.digest));
    return end.promise;
  }

  async end(how: InstallEnd): Promise<void> {
    await until('the install goes on', () => this.ends.length > 0);
    this.ends.shift()!.resolve(how);
  }
}

test('an agent without packages has none installed; others are installed beside their work, once', async () => {
  const guests = new Guests();
  const plane = await startPlane(world, new FakeHost(), { packages: guests });
  const plain = await running(world, plane);
  assert.deepEqual([plane.agents.inEffect(plain), plain.packagesApplied], [true, 'none']);
  const { id } = await running(world, plane, { packages: jq });
  await until('the install goes on', () => guests.begun.length === 1);
  assert.equal(plane.agents.inEffect(await find(id)), false);
  await plane.agents.update(world.accountId, id, { instructions: 'Be brief.' });
  const told = await plane.agents.awaitInEffect(world.accountId, id, 20_000, never);
  assert.equal(told.settingsApplied === 'template', false, 'other settings do not wait for it');
  await guests.end({ kind: 'installed' });
  await until('the install goes on', async () => plane.agents.inEffect(await find(id)));
  assert.deepEqual([guests.begun.length, guests.aborted.length], [1, 0]);
  await plane.agents.update(world.accountId, id, { packages: { apt: [], pip: [], npm: [] } });
  await guests.end({ kind: 'installed' });
  await until('the install goes on', async () => plane.agents.inEffect(await find(id)));
  assert.deepEqual(guests.begun[1]!.packages.apt, []);
  await plane.end();
});

test('sources are open through the host while it runs, if the rules are narrower, and never else', async () => {
  const guests = new Guests();
  const plane = await startPlane(world, new FakeHost(), { packages: guests });
  const open = await running(world, plane, { packages: jq });
  await until('the install goes on', () => guests.begun.length === 1);
  assert.deepEqual([guests.begun[0]!.throughHost, plane.engine.reachesPackages(open.id)], [false, false]);
  await guests.end({ kind: 'installed' });
  const { id } = await running(world, plane, { packages: jq, egress: { mode: 'none', allow: [] } });
  await until('the install goes on', () => guests.begun.length === 2);
  assert.deepEqual([guests.begun[1]!.throughHost, plane.engine.reachesPackages(id)], [true, true]);
  await guests.end({ kind: 'installed' });
  await until('the install goes on', () => !plane.engine.reachesPackages(id));
  await plane.end();
});

test('a failure is a sentence in the record and lines in the log; other packages are tried at once', async () => {
  const guests = new Guests();
  const plane = await startPlane(world, new FakeHost(), { packages: guests });
  const { id } = await running(world, plane, { packages: jq });
  await guests.end(failing);
  await until('the install goes on', async () => (await find(id)).packagesError !== null);
  const row = await find(id);
  assert.equal(
    row.packagesError,
    "apt did not install its packages: it ended with status 100. The agent's log has its last lines.",
  );
  assert.deepEqual([row.status, plane.agents.inEffect(row), guests.begun.length], ['running', false, 1]);
  const query = { agentId: id, limit: 100, direction: 'asc' } as const;
  const log = await world.store.database.repeatable((db) => logPage(db, query));
  const lines = log.map(({ message }) => message).filter((message) => message.startsWith('apt: '));
  assert.equal(lines[0], 'apt: E: Unable to locate package jq');
  assert.ok(!lines.join().includes('\u001b'), 'nothing that a terminal obeys');
  await plane.agents.update(world.accountId, id, { packages: { ...jq, apt: ['jq', 'less'] } });
  assert.equal((await find(id)).packagesError, null);
  await until('the install goes on', () => guests.begun.length === 2);
  await guests.end({ kind: 'installed' });
  await until('the install goes on', async () => plane.agents.inEffect(await find(id)));
  await plane.end();
});

test('a stop ends an install, and the next start and a new process begin it again', async () => {
  const host = new FakeHost();
  const guests = new Guests();
  const plane = await startPlane(world, host, { packages: guests });
  const { id } = await running(world, plane, { packages: jq });
  await until('the install goes on', () => guests.begun.length === 1);
  await plane.agents.act(world.accountId, id, 'stop');
  assert.equal((await plane.agents.awaitVerb(world.accountId, id, 'stop', 20_000, never)).status, 'stopped');
  assert.equal(guests.aborted.length, 1);
  await plane.agents.act(world.accountId, id, 'start');
  await until('the install goes on', () => guests.begun.length === 2);
  plane.kill();
  const next = new Guests();
  const other = await startPlane(world, host, { packages: next });
  await next.end({ kind: 'installed' });
  await until('the install goes on', async () => other.agents.inEffect(await find(id)));
  await other.end();
});
