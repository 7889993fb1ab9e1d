/** A driver's promises about snapshots: memory and disk belong together, or there is no snapshot. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sizes } from '@lodge/domain';
import type { Vm, VmRequest } from '@lodge/ports';
import { snapshotParts } from './harness.ts';
import { clockErrorMs, never, observed, rejectsWith } from './world.ts';
import type { World } from './world.ts';

const facts = { suspension: 'opaque' };

export function suspensionTests(world: World): void {
  const { request, create, state, guest, credentialOf, removeAll } = world;

  test('a suspended VM frees all but disk and snapshot, and a start from it goes on where it was', async () => {
    const wanted = request('stops', { machine: sizes.medium });
    const vm = await create(wanted);
    assert.equal(vm.facts, null);
    let { executionId } = wanted;
    let last = vm;
    for (const round of ['first', 'second', 'third']) {
      await guest(last).remember(round, 'in memory');
      await guest(last).writeFile(round, 'on disk');
      const { bytes, ms } = await world.driver.suspend('stops', executionId, { ...facts, round }, never);
      assert.ok(bytes > 0 && ms > 0);
      assert.deepEqual(await world.driver.list(), [observed({ ...last, address: null! }, 'suspended')]);
      assert.equal(await guest(last).answers(), false);
      assert.deepEqual(await world.harness.holdings(), []);
      const again = request('stops', { from: 'snapshot', machine: sizes.medium });
      last = await create(again);
      ({ executionId } = again);
      assert.deepEqual(last.facts, { ...facts, round });
      assert.deepEqual(last.machine, sizes.medium);
      assert.deepEqual(await create(again), last, 'the same execution twice is the same VM');
      assert.deepEqual(await world.driver.list(), [observed(last, 'running')]);
      assert.ok((await clockErrorMs(guest(last))) < 1000);
      assert.equal(await guest(last).recall('from-template'), 'in memory');
      for (const earlier of ['first', 'second', 'third'].slice(0, ['first', 'second', 'third'].indexOf(round) + 1)) {
        assert.equal(await guest(last).recall(earlier), 'in memory');
        assert.equal(await guest(last).readFile(earlier), 'on disk');
      }
    }
    await rejectsWith(create(request('stops', { from: 'snapshot' })), 'snapshot_missing');
    assert.deepEqual(await world.driver.list(), [observed(last, 'running')], 'a snapshot is used once');
    await removeAll();
    assert.deepEqual(await world.harness.holdings(), []);
  });

  test('a suspended VM is found by the next driver, and removed whole or but for its disk, which is booted and suspended as any other', async () => {
    const wanted = request('rests');
    const vm = await create(wanted);
    const cloned = await credentialOf(vm, []);
    await guest(vm).writeFile('kept', 'on disk');
    await world.driver.suspend('rests', wanted.executionId, facts, never);
    await world.driver.stop();
    await world.begin();
    assert.equal(await state('rests'), 'suspended');
    await world.driver.suspend('rests', wanted.executionId, facts, never);
    await world.driver.remove('rests', { keepDisk: true });
    assert.equal(await state('rests'), 'disk-only');
    assert.deepEqual(await world.harness.holdings(), []);
    await rejectsWith(create(request('rests', { from: 'snapshot' })), 'snapshot_missing');
    const booted = await create(request('rests', { from: 'boot' }));
    assert.equal(await guest(booted).readFile('kept'), 'on disk');
    const own = await credentialOf(booted, [cloned]);
    await guest(booted).remember('mark', 'kept');
    // A booted VM and a paused one are suspended like any other.
    await world.driver.pause('rests', booted.executionId);
    await world.driver.suspend('rests', booted.executionId, facts, never);
    const again = await create(request('rests', { from: 'snapshot' }));
    assert.equal(await guest(again).recall('mark'), 'kept');
    await credentialOf(again, [cloned, own]);
    await world.driver.suspend('rests', again.executionId, facts, never);
    await world.driver.remove('rests', { keepDisk: false });
    assert.equal(await state('rests'), null);
    assert.deepEqual(await world.harness.files('rests'), []);
    assert.deepEqual(await world.harness.holdings(), []);
  });

  test('a boot, or a clone, discards the snapshot', async () => {
    const wanted = request('boots');
    const vm = await create(wanted);
    await guest(vm).writeFile('kept', 'on disk');
    await guest(vm).remember('lost', 'in memory');
    await world.driver.suspend('boots', wanted.executionId, facts, never);
    const booted = request('boots', { from: 'boot' });
    const again = await create(booted);
    assert.equal(again.facts, null);
    assert.equal(await guest(again).readFile('kept'), 'on disk');
    assert.equal(await guest(again).recall('lost'), null);
    await rejectsWith(create(request('boots', { from: 'snapshot' })), 'snapshot_missing');
    await world.driver.suspend('boots', booted.executionId, facts, never);
    const clone = await create(request('boots'));
    assert.equal(await guest(clone).readFile('kept'), null);
    await rejectsWith(create(request('boots', { from: 'snapshot' })), 'snapshot_missing');
    await removeAll();
  });

  test('a damaged snapshot is never loaded; undamaged it is', async () => {
    const wanted = request('damaged');
    await guest(await create(wanted)).remember('mark', 'kept');
    await world.driver.suspend('damaged', wanted.executionId, facts, never);
    for (const part of snapshotParts) {
      await world.harness.damageSnapshot('damaged', part);
      await rejectsWith(create(request('damaged', { from: 'snapshot' })), 'snapshot_missing');
      assert.equal(await state('damaged'), 'suspended', part);
      assert.deepEqual(await world.harness.holdings(), []);
      await world.harness.damageSnapshot('damaged', part);
    }
    assert.equal(await guest(await create(request('damaged', { from: 'snapshot' }))).recall('mark'), 'kept');
    await removeAll();
  });

  failedSuspensionTests(world);
  killedSuspensionTests(world);
}

function failedSuspensionTests(world: World): void {
  const { request, create, state, guest, removeAll } = world;

  const stillWhole = async (vm: Vm): Promise<void> => {
    const { agentId, executionId } = vm;
    assert.ok(['paused', 'running'].includes((await state(agentId))!));
    await world.driver.resume(agentId, executionId);
    assert.equal(await guest(vm).recall('mark'), 'kept');
    await rejectsWith(create(request(agentId, { from: 'snapshot' })), 'snapshot_missing');
    assert.deepEqual(await world.driver.list(), [observed(vm, 'running')]);
  };

  test('a suspend that finds no room leaves the VM whole and no part of a snapshot', async () => {
    const wanted = request('full');
    const vm = await create(wanted);
    await guest(vm).remember('mark', 'kept');
    const before = await world.harness.files('full');
    await world.harness.whileDiskIsFull(async () => {
      await rejectsWith(world.driver.suspend('full', wanted.executionId, facts, never), 'disk_full');
      assert.equal(await state('full'), 'paused');
      assert.deepEqual(await world.harness.files('full'), before);
    });
    await stillWhole(vm);
    await world.driver.suspend('full', wanted.executionId, facts, never);
    assert.equal(await guest(await create(request('full', { from: 'snapshot' }))).recall('mark'), 'kept');
    await removeAll();
  });

  test('a suspend that is given up leaves the VM whole; a removal ends one, and nothing is left', async () => {
    const wanted = request('given-up');
    const vm = await create(wanted);
    await guest(vm).remember('mark', 'kept');
    const before = await world.harness.files('given-up');
    const giveUp = new AbortController();
    const suspend = world.driver.suspend('given-up', wanted.executionId, facts, giveUp.signal);
    const refused = rejectsWith(suspend, 'aborted');
    await sleep(20);
    giveUp.abort();
    await refused;
    assert.deepEqual(await world.harness.files('given-up'), before);
    await stillWhole(vm);
    const removed = rejectsWith(world.driver.suspend('given-up', wanted.executionId, facts, never), 'aborted');
    await sleep(20);
    await world.driver.remove('given-up', { keepDisk: false });
    await removed;
    assert.equal(await state('given-up'), null);
    assert.deepEqual(await world.harness.holdings(), []);
  });

  test('a start from a snapshot that is given up leaves the snapshot, or the disk once it was used', async () => {
    const wanted = request('restart');
    const vm = await create(wanted);
    await guest(vm).writeFile('kept', 'on disk');
    await guest(vm).remember('mark', 'kept');
    await world.driver.suspend('restart', wanted.executionId, facts, never);
    for (const afterMs of [0, 20, 60]) {
      const giveUp = new AbortController();
      const start = world.driver.create(request('restart', { from: 'snapshot' }), giveUp.signal);
      const refused = rejectsWith(start, 'aborted');
      await sleep(afterMs);
      giveUp.abort();
      await refused;
      assert.equal(await state('restart'), 'suspended', `after ${afterMs} ms`);
      assert.deepEqual(await world.harness.holdings(), []);
    }
    const again = await create(request('restart', { from: 'snapshot' }));
    assert.equal(await guest(again).recall('mark'), 'kept');
    await removeAll();
  });
}

function killedSuspensionTests(world: World): void {
  const { request, create, state, guest } = world;

  /** A VM with a mark in its memory and one on its disk. */
  const marked = async (agentId: string): Promise<VmRequest> => {
    const wanted = request(agentId);
    const vm = await create(wanted);
    await guest(vm).writeFile('mark', 'on disk');
    await guest(vm).remember('mark', 'in memory');
    return wanted;
  };
  const isWhole = async (vm: Vm): Promise<void> => {
    assert.equal(await guest(vm).readFile('mark'), 'on disk');
    assert.equal(await guest(vm).recall('mark'), 'in memory');
  };

  test('a control plane killed during a suspend leaves the VM or the snapshot, each whole', async () => {
    const seen = new Set<string>();
    for (const moment of world.harness.moments.suspend) {
      const { executionId } = await marked('cut-stop');
      await world.driver.stop();
      await world.harness.killDuring({ do: 'suspend', agentId: 'cut-stop', executionId, facts }, moment);
      await world.begin();
      const found = (await state('cut-stop'))!;
      seen.add(found);
      assert.ok(['running', 'paused', 'suspended'].includes(found), `killed at ${moment.name}: ${found}`);
      if (found !== 'suspended') await world.driver.suspend('cut-stop', executionId, facts, never);
      assert.deepEqual(await world.harness.holdings(), [], `killed at ${moment.name}`);
      const vm = await create(request('cut-stop', { from: 'snapshot' }));
      await isWhole(vm);
      assert.deepEqual(vm.facts, facts);
      await world.driver.remove('cut-stop', { keepDisk: false });
      assert.deepEqual(await world.harness.holdings(), [], `killed at ${moment.name}`);
    }
    assert.ok(seen.has('paused'), 'the moments reach into it');
  });

  test('a VM that goes on after a suspend that was cut short leaves that snapshot behind', async () => {
    for (const moment of world.harness.moments.suspend) {
      const { executionId } = await marked('goes-on');
      await world.driver.stop();
      await world.harness.killDuring({ do: 'suspend', agentId: 'goes-on', executionId, facts }, moment);
      await world.begin();
      if ((await state('goes-on')) !== 'suspended') {
        await world.driver.resume('goes-on', executionId);
        await world.harness.killVm('goes-on');
        await world.driver.stop();
        await world.begin();
        assert.equal(await state('goes-on'), 'dead', `killed at ${moment.name}`);
        await rejectsWith(create(request('goes-on', { from: 'snapshot' })), 'snapshot_missing');
      }
      await world.driver.remove('goes-on', { keepDisk: false });
    }
    assert.deepEqual(await world.harness.holdings(), []);
  });

  test('a control plane killed during a start from a snapshot leaves the snapshot, or the disk when the guest may have run', async () => {
    for (const moment of world.harness.moments.start) {
      const { executionId } = await marked('cut-start');
      await world.driver.suspend('cut-start', executionId, facts, never);
      await world.driver.stop();
      const start = request('cut-start', { from: 'snapshot' });
      await world.harness.killDuring({ do: 'start', request: start }, moment);
      await world.begin();
      const found = await state('cut-start');
      if (found === 'suspended') {
        assert.deepEqual(await world.harness.holdings(), [], `killed at ${moment.name}`);
        await isWhole(await create(request('cut-start', { from: 'snapshot' })));
      } else if (found === 'running') {
        await isWhole(await create(start));
      } else {
        assert.equal(found, 'partial', `killed at ${moment.name}`);
        await rejectsWith(create(request('cut-start', { from: 'snapshot' })), 'snapshot_missing');
        const booted = await create(request('cut-start', { from: 'boot' }));
        assert.equal(await guest(booted).readFile('mark'), 'on disk');
      }
      await world.driver.remove('cut-start', { keepDisk: false });
      assert.deepEqual(await world.harness.holdings(), [], `killed at ${moment.name}`);
    }
  });
}
