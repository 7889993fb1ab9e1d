/** A save that does not end: the VM stays as it was, and the saved machine is whole or not there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SaveRequest, Vm } from '@lodge/ports';
import type { Moment } from './harness.ts';
import { fromRest, never, observed, rejectsWith } from './world.ts';
import type { World } from './world.ts';

export function savedFailureTests(world: World): void {
  const { request, create, state, guest, marked, isWhole, removeAll } = world;
  const wish = (id: string): SaveRequest => ({ id, memory: true, facts: { saved: id } });
  const save = ({ agentId, executionId }: Vm, id: string, signal = never) =>
    world.driver.save(agentId, executionId, wish(id), signal);

  test('a save of nothing, and a start, a check or a copy of nothing saved, are refused by name and change nothing', async () => {
    const { driver } = world;
    await rejectsWith(driver.save('nobody', 'e1', wish('none'), never), 'gone');
    const vm = await marked('stays');
    await rejectsWith(driver.save('stays', 'older', wish('none'), never), 'gone');
    await rejectsWith(create(request('stays', { from: { saved: 'none', memory: true } })), 'saved_missing');
    await rejectsWith(driver.checkSaved('none', never), 'saved_missing');
    await rejectsWith(driver.shareSaved('none', never), 'saved_missing');
    assert.equal(await driver.findSaved('none'), null);
    await driver.dropSaved('none');
    assert.deepEqual(await driver.list(), [observed(vm, 'running')]);
    await isWhole(vm);
    await world.harness.killVm('stays');
    await rejectsWith(save(vm, 'none'), 'gone');
    assert.equal(await driver.findSaved('none'), null);
    await removeAll();
  });

  test('a save that finds no room, or is given up, leaves the VM as it was and no part of a saved machine', async () => {
    const vm = await marked('fails');
    const before = await world.harness.files('fails');
    await world.harness.whileDiskIsFull(() => rejectsWith(save(vm, 'failed'), 'disk_full'));
    assert.equal(await world.driver.findSaved('failed'), null);
    assert.deepEqual(await world.harness.files('fails'), before);
    assert.deepEqual(await world.driver.list(), [observed(vm, 'running')]);
    const giveUp = new AbortController();
    const refused = rejectsWith(save(vm, 'failed', giveUp.signal), 'aborted');
    await sleep(20);
    giveUp.abort();
    await refused;
    assert.equal(await world.driver.findSaved('failed'), null);
    assert.deepEqual(await world.driver.list(), [observed(vm, 'running')]);
    await isWhole(vm);
    await save(vm, 'failed');
    const removed = rejectsWith(save(vm, 'cut'), 'aborted');
    await sleep(20);
    await world.driver.remove('fails', { keepDisk: false });
    await removed;
    assert.equal(await world.driver.findSaved('cut'), null);
    await isWhole(await create(request('fails', { from: { saved: 'failed', memory: true } })));
    await world.driver.dropSaved('failed');
    await removeAll();
    assert.deepEqual(await world.harness.holdings(), []);
  });

  test('a control plane killed while it saves leaves the VM, and the saved machine whole or not at all', async () => {
    let vm = await marked('cut');
    const seen = new Set<string | null>();
    const { harness } = world;
    /** The first one's file: written before it was saved, or not. */
    let first: string | null = null;
    const killed = async (id: string, moment: Moment): Promise<void> => {
      await world.driver.stop();
      const { agentId, executionId } = vm;
      await harness.killDuring({ do: 'save', agentId, executionId, request: wish(id) }, moment);
    };
    for (const [index, moment] of harness.moments.save.entries()) {
      const id = `cut-${index}`;
      await killed(id, moment);
      await world.begin();
      const found = await state('cut');
      seen.add(found);
      assert.ok(found === 'running' || found === 'paused', `killed at ${moment.name}: ${found}`);
      const whole = (await world.driver.findSaved(id)) !== null;
      if (index === 0 && !whole) first = 'after';
      if (whole) assert.equal(await world.driver.checkSaved(id, never), null, `killed at ${moment.name}`);
      await world.driver.resume('cut', vm.executionId);
      await isWhole(vm);
      await guest(vm).writeFile(id, 'after');
      await save(vm, id);
      assert.equal(await world.driver.checkSaved(id, never), null, `killed at ${moment.name}`);
      // A start from a snapshot has the disk that the files on the host say.
      await world.driver.rest('cut', vm.executionId, { facts: {} }, never);
      assert.deepEqual(await harness.holdings(), [], `killed at ${moment.name}`);
      vm = await create(request('cut', { from: fromRest('cut') }));
      await isWhole(vm);
      assert.equal(await guest(vm).readFile(id), 'after', `killed at ${moment.name}`);
    }
    assert.ok(seen.has('paused'), 'the moments reach into it');
    const other = await create(request('other', { from: { saved: 'cut-0', memory: true } }));
    await isWhole(other);
    assert.deepEqual([await guest(other).readFile('cut-0'), other.facts], [first, { saved: 'cut-0' }]);
    await world.driver.remove('other', { keepDisk: false });
    await killed('cut-last', harness.moments.save.at(-1)!);
    await harness.killVm('cut');
    await world.begin();
    assert.equal(await state('cut'), 'dead');
    const booted = await create(request('cut', { from: 'boot' }));
    assert.equal(await guest(booted).readFile('cut-0'), 'after');
    await removeAll();
    await world.driver.collectSaved(new Set(), new Date(Date.now() + 60_000));
    assert.deepEqual(await harness.holdings(), []);
  });
}
