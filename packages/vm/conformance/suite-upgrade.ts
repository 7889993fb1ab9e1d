/** A driver's promises about a machine at rest in whose place another VM is made: it stays whole until it is freed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restOf } from '@lodge/ports';
import type { CarriedData, Vm } from '@lodge/ports';
import { fromRest, never, observed, rejectsWith } from './world.ts';
import type { World } from './world.ts';

const facts = { suspension: 'opaque' };

export function upgradeTests(world: World): void {
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
  const toRest = ({ agentId, executionId }: Vm) =>
    world.driver.rest(agentId, executionId, { facts, data: data() }, never);
  const backup = async (agentId: string): Promise<string | null> =>
    (await world.driver.inspect(agentId))?.backup ?? null;
  /** The VM at rest goes on where it was. */
  const isWhole = async (agentId: string): Promise<void> => {
    const again = await create(request(agentId, { from: fromRest(agentId) }));
    assert.deepEqual(again.facts, facts);
    assert.equal(await guest(again).recall('mark'), 'in memory');
    assert.equal(await guest(again).readFile('mark'), 'on disk');
    assert.equal(await guest(again).readFile('from-template'), 'changed');
    assert.deepEqual(await world.driver.list(), [observed(again, 'running')]);
  };

  test('another VM takes the place of one at rest, with its data, and that one is freed', async () => {
    const old = await marked('moves');
    assert.ok((await toRest(old)).bytes > 0);
    assert.deepEqual(await world.driver.list(), [observed({ ...old, address: null! }, 'suspended')]);
    assert.deepEqual(await world.harness.holdings(), []);
    await toRest(old);
    const next = await create(request('moves'));
    await guest(next).writeFile('of-the-new-one', 'on disk');
    await world.driver.carryOver('moves', next.executionId, data(), never);
    assert.equal(await guest(next).readFile('mark'), 'on disk');
    assert.equal(await guest(next).readFile('from-template'), 'on disk', 'the template’s own file stays');
    assert.equal(await guest(next).readFile('of-the-new-one'), null, 'what was there is replaced');
    assert.equal(await guest(next).recall('mark'), null);
    await rejectsWith(toRest(next), 'failed');
    await world.driver.remove('moves', { keepDisk: true });
    assert.equal(await backup('moves'), old.executionId);
    const booted = await create(request('moves', { from: 'boot' }));
    assert.equal(await guest(booted).readFile('mark'), 'on disk');
    assert.deepEqual(await world.driver.collectSaved(new Set(), new Date()), []);
    await world.driver.dropSaved(restOf('moves'));
    await world.driver.dropSaved(restOf('moves'));
    assert.deepEqual(await world.driver.list(), [observed(booted, 'running')]);
    await removeAll();
    assert.deepEqual(await world.harness.holdings(), []);
  });

  test('a machine at rest is found by the next driver beside the VM in its place, and goes on whole', async () => {
    const old = await marked('returns');
    await toRest(old);
    await world.driver.copySaved(restOf('returns'), 'named');
    await create(request('returns'));
    await world.driver.stop();
    await world.begin();
    assert.equal(await backup('returns'), old.executionId);
    await isWhole('returns');
    const other = await create(request('other', { from: { saved: 'named', memory: true } }));
    assert.equal(await guest(other).recall('mark'), 'in memory');
    await rejectsWith(world.driver.carryOver('other', other.executionId, data(), never), 'saved_missing');
    await world.driver.dropSaved('named');
    await removeAll();
  });

  test('a removal frees the machine at rest too, unless that or the disk is kept', async () => {
    await toRest(await marked('goes'));
    await create(request('goes'));
    await world.driver.remove('goes', { keepDisk: true });
    assert.deepEqual([await state('goes'), (await backup('goes')) !== null], ['disk-only', true]);
    await world.driver.remove('goes', { keepDisk: false, keepRest: true });
    assert.equal(await state('goes'), 'suspended');
    await world.driver.remove('goes', { keepDisk: false });
    assert.equal(await world.driver.inspect('goes'), null);
    assert.deepEqual(await world.driver.list(), []);
  });

  test('without room for a second disk nothing is saved, and the VM goes on', async () => {
    const vm = await marked('stays');
    await world.harness.whileDiskIsFull(() => rejectsWith(toRest(vm), 'disk_full'));
    await world.driver.resume('stays', vm.executionId);
    assert.equal(await guest(vm).recall('mark'), 'in memory');
    assert.deepEqual(await world.driver.list(), [observed(vm, 'running')]);
    await removeAll();
  });
}
