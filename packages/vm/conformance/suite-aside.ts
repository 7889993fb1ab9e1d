/** What a driver promises about a VM that is set aside: it is whole, whatever is made in its place, until it is freed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CarriedData, Vm } from '@lodge/engine/ports';
import { never, observed, rejectsWith } from './world.ts';
import type { World } from './world.ts';

const facts = { suspension: 'opaque' };

export function asideTests(world: World): void {
  const { request, create, state, guest, removeAll } = world;
  const data = (): CarriedData => ({
    folders: [world.harness.home || '/'],
    except: [`${world.harness.home}/from-template`],
  });

  /** A VM with a mark on its disk, one in its memory, and another word in the template's file. */
  const marked = async (agentId: string): Promise<Vm> => {
    const vm = await create(request(agentId));
    await guest(vm).writeFile('mark', 'on disk');
    await guest(vm).writeFile('from-template', 'changed');
    await guest(vm).remember('mark', 'in memory');
    return vm;
  };
  const setAside = ({ agentId, executionId }: Vm) =>
    world.driver.setAside(agentId, executionId, { facts, data: data() }, never);
  const aside = async (agentId: string): Promise<string | null> => (await world.driver.inspect(agentId))?.aside ?? null;
  /** The VM that was aside goes on where it was. */
  const isWhole = async (agentId: string): Promise<void> => {
    const again = await create(request(agentId, { from: 'snapshot' }));
    assert.deepEqual(again.facts, facts);
    assert.equal(await guest(again).recall('mark'), 'in memory');
    assert.equal(await guest(again).readFile('mark'), 'on disk');
    assert.equal(await guest(again).readFile('from-template'), 'changed');
  };

  test('another VM takes the place of one that is aside, with its data, and that one is freed', async () => {
    const old = await marked('moves');
    assert.ok((await setAside(old)).bytes > 0);
    const nothing = { agentId: 'moves', executionId: null, state: 'partial', address: null } as const;
    assert.deepEqual(await world.driver.list(), [{ ...nothing, aside: old.executionId }]);
    assert.deepEqual(await world.harness.holdings(), []);
    await setAside(old);
    const next = await create(request('moves'));
    await guest(next).writeFile('of-the-new-one', 'on disk');
    await world.driver.carryOver('moves', next.executionId, data(), never);
    assert.equal(await guest(next).readFile('mark'), 'on disk');
    assert.equal(await guest(next).readFile('from-template'), 'on disk', 'the template’s own file stays');
    assert.equal(await guest(next).readFile('of-the-new-one'), null, 'what was there is replaced');
    assert.equal(await guest(next).recall('mark'), null);
    await world.driver.remove('moves', { keepDisk: true });
    assert.equal(await aside('moves'), old.executionId);
    const booted = await create(request('moves', { from: 'boot' }));
    assert.equal(await guest(booted).readFile('mark'), 'on disk');
    await world.driver.dropAside('moves');
    await world.driver.dropAside('moves');
    assert.deepEqual(await world.driver.list(), [observed(booted, 'running')]);
    await removeAll();
    assert.deepEqual(await world.harness.holdings(), []);
  });

  test('a VM that is aside is found by the next driver, and taken back whole', async () => {
    const old = await marked('returns');
    await setAside(old);
    await create(request('returns'));
    await world.driver.stop();
    await world.begin();
    assert.equal(await aside('returns'), old.executionId);
    await world.driver.takeBack('returns');
    await world.driver.takeBack('returns');
    assert.deepEqual(await world.harness.holdings(), []);
    await world.driver.stop();
    await world.begin();
    assert.deepEqual([await state('returns'), await aside('returns')], ['suspended', null]);
    await isWhole('returns');
    await removeAll();
  });

  test('a removal frees what is aside too', async () => {
    await setAside(await marked('goes'));
    await world.driver.remove('goes', { keepDisk: true });
    assert.notEqual(await aside('goes'), null);
    await world.driver.remove('goes', { keepDisk: false });
    assert.equal(await world.driver.inspect('goes'), null);
    assert.deepEqual(await world.driver.list(), []);
  });

  test('without room for a second disk nothing is set aside, and the VM goes on', async () => {
    const vm = await marked('stays');
    await world.harness.whileDiskIsFull(() => rejectsWith(setAside(vm), 'disk_full'));
    await world.driver.resume('stays', vm.executionId);
    assert.equal(await guest(vm).recall('mark'), 'in memory');
    assert.deepEqual(await world.driver.list(), [observed(vm, 'running')]);
    await removeAll();
  });

  test('a control plane killed while it sets a VM aside leaves the VM, or it is aside', async () => {
    const seen = new Set<string>();
    for (const moment of world.harness.moments.setAside) {
      const { executionId } = await marked('cut-aside');
      await world.driver.stop();
      const kept = { facts, data: data() };
      await world.harness.killDuring({ do: 'setAside', agentId: 'cut-aside', executionId, kept }, moment);
      await world.begin();
      const found = (await state('cut-aside'))!;
      seen.add(found);
      if (found === 'partial') {
        assert.equal(await aside('cut-aside'), executionId, `killed at ${moment.name}`);
        await world.driver.takeBack('cut-aside');
      } else {
        assert.ok(['running', 'paused'].includes(found), `killed at ${moment.name}: ${found}`);
        await world.driver.suspend('cut-aside', executionId, facts, never);
      }
      assert.equal(await aside('cut-aside'), null, `killed at ${moment.name}`);
      await isWhole('cut-aside');
      await world.driver.remove('cut-aside', { keepDisk: false });
    }
    assert.ok(seen.has('partial'), `the moments reach to its end: ${[...seen].join(', ')}`);
    assert.deepEqual(await world.harness.holdings(), []);
  });
}
