/** The browser's disk on a real database and the fake host: shown where an agent wants it, and in nobody's way. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FakeHost } from '@lodge/vm/fake';
import { running, startPlane, until, World } from '../../../../testkit/src/plane/plane.ts';

let world: World;
before(async () => {
  world = await World.open();
});
after(() => world.close());

test('a guest sees the disk when its agent wants a browser, from its start or live, and in each later machine', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const sees = (id: string): boolean | undefined => host.vms.get(id)?.seesBrowser;
  const without = await running(world, plane);
  assert.equal(sees(without.id), false);
  assert.equal(host.hasBrowserDisk, false, 'nothing is built for who wants none');
  const wants = await running(world, plane, { size: 'medium', browser: true });
  await until('its guest sees the disk', async () => sees(wants.id) === true);
  await plane.agents.update(world.accountId, without.id, { size: 'medium', browser: true });
  await until('the other one sees it, too', async () => sees(without.id) === true);
  await plane.end();
});

test('an agent runs and takes its settings while the disk is built, cannot be built, or has no device', async () => {
  for (const state of ['building', 'failed', 'no_device'] as const) {
    const host = new FakeHost();
    host.browser = { state, message: 'a step' };
    const plane = await startPlane(world, host);
    const agent = await running(world, plane, { size: 'medium', browser: true });
    await plane.agents.update(world.accountId, agent.id, { instructions: 'Answer in one sentence.' });
    const row = await plane.agents.awaitInEffect(world.accountId, agent.id, 60_000, new AbortController().signal);
    assert.equal(plane.agents.inEffect(row), true);
    assert.deepEqual(await plane.agents.browserDisk(row), { state, message: 'a step' });
    await plane.end();
  }
});

test('a driver that does not answer about the disk holds up nothing else', async () => {
  const host = new FakeHost();
  host.showBrowser = () => {
    throw new Error('told to fail');
  };
  const plane = await startPlane(world, host);
  const agent = await running(world, plane, { size: 'medium', browser: true });
  await plane.agents.update(world.accountId, agent.id, { instructions: 'Answer in one sentence.' });
  const row = await plane.agents.awaitInEffect(world.accountId, agent.id, 60_000, new AbortController().signal);
  assert.equal(plane.agents.inEffect(row), true);
  await plane.end();
});
