/** A driver's promises about a backed-up VM: it stays whole until it is freed, whatever is made in its place. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CarriedData, Vm } from '@lodge/ports';
import { never, observed, rejectsWith } from './world.ts';
import type { World } from './world.ts';

const facts = { suspension: 'opaque' };

export function backupTests(world: World): void {
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
  const backUp = ({ agentId, executionId }: Vm) =>
    world.driver.backUp(agentId, executionId, { facts, data: data() }, never);
  const backup = async (agentId: string): Promise<string | null> =>
    (await world.driver.inspect(agentId))?.backup ?? null;
  /** The backed-up VM goes on where it was. */
  const isWhole = async (agentId: string): Promise<void> => {
    const again = await create(request(agentId, { from: 'snapshot' }));
    assert.deepEqual(again.facts, facts);
    assert.equal(await guest(again).recall('mark'), 'in memory');
    assert.equal(await guest(again).readFile('mark'), 'on disk');
    assert.equal(await guest(again).readFile('from-template'), 'changed');
  };

  test('another VM takes the place of one that is the backup, with its data, and that one is freed', async () => {
    const old = await marked('moves');
    assert.ok((await backUp(old)).bytes > 0);
    const nothing = { agentId: 'moves', executionId: null, state: 'partial', address: null } as const;
    assert.deepEqual(await world.driver.list(), [{ ...nothing, backup: old.executionId }]);
    assert.deepEqual(await world.harness.holdings(), []);
    await backUp(old);
    const next = await create(request('moves'));
    await guest(next).writeFile('of-the-new-one', 'on disk');
    await world.driver.carryOver('moves', next.executionId, data(), never);
    assert.equal(await guest(next).readFile('mark'), 'on disk');
    assert.equal(await guest(next).readFile('from-template'), 'on disk', 'the template’s own file stays');
    assert.equal(await guest(next).readFile('of-the-new-one'), null, 'what was there is replaced');
    assert.equal(await guest(next).recall('mark'), null);
    await world.driver.remove('moves', { keepDisk: true });
    assert.equal(await backup('moves'), old.executionId);
    const booted = await create(request('moves', { from: 'boot' }));
    assert.equal(await guest(booted).readFile('mark'), 'on disk');
    await world.driver.dropBackup('moves');
    await world.driver.dropBackup('moves');
    assert.deepEqual(await world.driver.list(), [observed(booted, 'running')]);
    await removeAll();
    assert.deepEqual(await world.harness.holdings(), []);
  });

  test('a VM that is the backup is found by the next driver, and restored whole', async () => {
    const old = await marked('returns');
    await backUp(old);
    await create(request('returns'));
    await world.driver.stop();
    await world.begin();
    assert.equal(await backup('returns'), old.executionId);
    await world.driver.rollBack('returns');
    await world.driver.rollBack('returns');
    assert.deepEqual(await world.harness.holdings(), []);
    await world.driver.stop();
    await world.begin();
    assert.deepEqual([await state('returns'), await backup('returns')], ['suspended', null]);
    await isWhole('returns');
    await removeAll();
  });

  test('a removal frees the backup too', async () => {
    await backUp(await marked('goes'));
    await world.driver.remove('goes', { keepDisk: true });
    assert.notEqual(await backup('goes'), null);
    await world.driver.remove('goes', { keepDisk: false });
    assert.equal(await world.driver.inspect('goes'), null);
    assert.deepEqual(await world.driver.list(), []);
  });

  test('without room for a second disk nothing is backed up, and the VM goes on', async () => {
    const vm = await marked('stays');
    await world.harness.whileDiskIsFull(() => rejectsWith(backUp(vm), 'disk_full'));
    await world.driver.resume('stays', vm.executionId);
    assert.equal(await guest(vm).recall('mark'), 'in memory');
    assert.deepEqual(await world.driver.list(), [observed(vm, 'running')]);
    await removeAll();
  });

  test('a control plane killed while it backs a VM up leaves the VM, or it is the backup', async () => {
    const seen = new Set<string>();
    for (const moment of world.harness.moments.backUp) {
      const { executionId } = await marked('cut-backup');
      await world.driver.stop();
      const kept = { facts, data: data() };
      await world.harness.killDuring({ do: 'backUp', agentId: 'cut-backup', executionId, kept }, moment);
      await world.begin();
      const found = (await state('cut-backup'))!;
      seen.add(found);
      if (found === 'partial') {
        assert.equal(await backup('cut-backup'), executionId, `killed at ${moment.name}`);
        await world.driver.rollBack('cut-backup');
      } else {
        assert.ok(['running', 'paused'].includes(found), `killed at ${moment.name}: ${found}`);
        await world.driver.suspend('cut-backup', executionId, facts, never);
      }
      assert.equal(await backup('cut-backup'), null, `killed at ${moment.name}`);
      await isWhole('cut-backup');
      await world.driver.remove('cut-backup', { keepDisk: false });
    }
    assert.ok(seen.has('partial'), `the moments reach to its end: ${[...seen].join(', ')}`);
    assert.deepEqual(await world.harness.holdings(), []);
  });
}
