/** A driver's promises about VMs that are saved to rest: the VM or the machine at rest is the agent, and each is whole. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sizes } from '@lodge/domain';
import { restOf } from '@lodge/ports';
import type { Vm } from '@lodge/ports';
import { clockErrorMs, fromRest, never, observed, rejectsWith } from './world.ts';
import type { World } from './world.ts';

const facts = { suspension: 'opaque' };
const partsOfMemory = ['pages', 'devices', 'manifest'] as const;

export function restTests(world: World): void {
  const { request, create, state, guest, credentialOf, removeAll } = world;

  test('a VM at rest frees all but its files, and a start from it goes on where it was', async () => {
    const wanted = request('stops', { machine: sizes.medium });
    const vm = await create(wanted);
    assert.equal(vm.facts, null);
    let { executionId } = wanted;
    let last = vm;
    for (const round of ['first', 'second', 'third']) {
      await guest(last).remember(round, 'in memory');
      await guest(last).writeFile(round, 'on disk');
      const { bytes, ms } = await world.driver.rest('stops', executionId, { facts: { ...facts, round } }, never);
      assert.ok(bytes > 0 && ms > 0);
      assert.deepEqual(await world.driver.list(), [observed({ ...last, address: null! }, 'suspended')]);
      assert.equal(await guest(last).answers(), false);
      assert.deepEqual(await world.harness.holdings(), []);
      const again = request('stops', { from: fromRest('stops'), machine: sizes.medium });
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
    await rejectsWith(create(request('stops', { from: fromRest('stops') })), 'saved_missing');
    assert.deepEqual(
      await world.driver.list(),
      [observed(last, 'running')],
      'it takes the place of the machine at rest',
    );
    await removeAll();
    assert.deepEqual(await world.harness.holdings(), []);
  });

  test('a VM at rest is found by the next driver, and removed whole; its disk is booted, and comes to rest as any other', async () => {
    const wanted = request('rests');
    const vm = await create(wanted);
    const cloned = await credentialOf(vm, []);
    await guest(vm).writeFile('kept', 'on disk');
    await world.driver.rest('rests', wanted.executionId, { facts }, never);
    await world.driver.stop();
    await world.begin();
    assert.equal(await state('rests'), 'suspended');
    await world.driver.rest('rests', wanted.executionId, { facts }, never);
    await world.driver.remove('rests', { keepDisk: true });
    assert.equal(await state('rests'), 'suspended');
    assert.deepEqual(await world.harness.holdings(), []);
    const booted = await create(request('rests', { from: fromRest('rests', false) }));
    await rejectsWith(create(request('rests', { from: fromRest('rests') })), 'saved_missing');
    assert.equal(await guest(booted).readFile('kept'), 'on disk');
    const own = await credentialOf(booted, [cloned]);
    await guest(booted).remember('mark', 'kept');
    // A booted VM and a paused one come to rest like any other.
    await world.driver.pause('rests', booted.executionId);
    await world.driver.rest('rests', booted.executionId, { facts }, never);
    const again = await create(request('rests', { from: fromRest('rests') }));
    assert.equal(await guest(again).recall('mark'), 'kept');
    await credentialOf(again, [cloned, own]);
    await world.driver.rest('rests', again.executionId, { facts }, never);
    await world.driver.remove('rests', { keepDisk: false });
    assert.equal(await state('rests'), null);
    assert.deepEqual(await world.harness.files('rests'), []);
    assert.deepEqual(await world.harness.holdings(), []);
  });

  test('a boot of the disk at rest leaves its memory behind', async () => {
    const wanted = request('boots');
    const vm = await create(wanted);
    await guest(vm).writeFile('kept', 'on disk');
    await guest(vm).remember('lost', 'in memory');
    await world.driver.rest('boots', wanted.executionId, { facts }, never);
    await rejectsWith(create(request('boots', { from: 'boot' })), 'disk_missing');
    const again = await create(request('boots', { from: fromRest('boots', false) }));
    assert.equal(again.facts, null);
    assert.equal(await guest(again).readFile('kept'), 'on disk');
    assert.equal(await guest(again).recall('lost'), null);
    await removeAll();
  });

  test('a damaged machine at rest is never loaded; undamaged it is', async () => {
    const wanted = request('damaged');
    await guest(await create(wanted)).remember('mark', 'kept');
    await world.driver.rest('damaged', wanted.executionId, { facts }, never);
    for (const part of partsOfMemory) {
      await world.harness.damageSaved(restOf('damaged'), part);
      await rejectsWith(create(request('damaged', { from: fromRest('damaged') })), 'saved_damaged');
      assert.equal(await state('damaged'), 'suspended', part);
      assert.deepEqual(await world.harness.holdings(), []);
      await world.harness.damageSaved(restOf('damaged'), part);
    }
    assert.equal(await guest(await create(request('damaged', { from: fromRest('damaged') }))).recall('mark'), 'kept');
    await removeAll();
  });

  failedRestTests(world);
  killedRestTests(world);
}

function failedRestTests(world: World): void {
  const { request, create, state, guest, removeAll } = world;

  const stillWhole = async (vm: Vm): Promise<void> => {
    const { agentId, executionId } = vm;
    assert.ok(['paused', 'running'].includes((await state(agentId))!));
    await world.driver.resume(agentId, executionId);
    assert.equal(await guest(vm).recall('mark'), 'kept');
    await rejectsWith(create(request(agentId, { from: fromRest(agentId) })), 'saved_missing');
    assert.deepEqual(await world.driver.list(), [observed(vm, 'running')]);
  };

  test('a rest that finds no room leaves the VM whole and no part of a saved machine', async () => {
    const wanted = request('full');
    const vm = await create(wanted);
    await guest(vm).remember('mark', 'kept');
    const before = await world.harness.files('full');
    await world.harness.whileDiskIsFull(async () => {
      await rejectsWith(world.driver.rest('full', wanted.executionId, { facts }, never), 'disk_full');
      assert.equal(await state('full'), 'running');
      assert.deepEqual(await world.harness.files('full'), before);
    });
    await stillWhole(vm);
    await world.driver.rest('full', wanted.executionId, { facts }, never);
    assert.equal(await guest(await create(request('full', { from: fromRest('full') }))).recall('mark'), 'kept');
    await removeAll();
  });

  test('a rest that is given up leaves the VM whole; a removal ends one, and nothing is left', async () => {
    const wanted = request('given-up');
    const vm = await create(wanted);
    await guest(vm).remember('mark', 'kept');
    const before = await world.harness.files('given-up');
    const giveUp = new AbortController();
    const rest = world.driver.rest('given-up', wanted.executionId, { facts }, giveUp.signal);
    const refused = rejectsWith(rest, 'aborted');
    await sleep(20);
    giveUp.abort();
    await refused;
    assert.deepEqual(await world.harness.files('given-up'), before);
    await stillWhole(vm);
    const removed = rejectsWith(world.driver.rest('given-up', wanted.executionId, { facts }, never), 'aborted');
    await sleep(20);
    await world.driver.remove('given-up', { keepDisk: false });
    await removed;
    assert.equal(await state('given-up'), null);
    assert.deepEqual(await world.harness.holdings(), []);
  });

  test('a start that is given up leaves the machine at rest', async () => {
    const wanted = request('restart');
    const vm = await create(wanted);
    await guest(vm).writeFile('kept', 'on disk');
    await guest(vm).remember('mark', 'kept');
    await world.driver.rest('restart', wanted.executionId, { facts }, never);
    for (const afterMs of [0, 20, 60]) {
      const giveUp = new AbortController();
      const start = world.driver.create(request('restart', { from: fromRest('restart') }), giveUp.signal);
      const refused = rejectsWith(start, 'aborted');
      await sleep(afterMs);
      giveUp.abort();
      await refused;
      assert.equal(await state('restart'), 'suspended', `after ${afterMs} ms`);
      assert.deepEqual(await world.harness.holdings(), []);
    }
    const again = await create(request('restart', { from: fromRest('restart') }));
    assert.equal(await guest(again).recall('mark'), 'kept');
    await removeAll();
  });
}

function killedRestTests(world: World): void {
  const { request, create, state, marked, isWhole } = world;

  test('a control plane killed as a VM comes to rest leaves the VM or the machine at rest, each whole', async () => {
    const seen = new Set<string>();
    for (const moment of world.harness.moments.rest) {
      const { executionId } = await marked('cut-stop');
      await world.driver.stop();
      await world.harness.killDuring({ do: 'rest', agentId: 'cut-stop', executionId, request: { facts } }, moment);
      await world.begin();
      const found = (await state('cut-stop'))!;
      seen.add(found);
      assert.ok(['running', 'paused', 'suspended'].includes(found), `killed at ${moment.name}: ${found}`);
      if (found !== 'suspended') await world.driver.rest('cut-stop', executionId, { facts }, never);
      assert.deepEqual(await world.harness.holdings(), [], `killed at ${moment.name}`);
      const vm = await create(request('cut-stop', { from: fromRest('cut-stop') }));
      await isWhole(vm);
      assert.deepEqual(vm.facts, facts);
      await world.driver.remove('cut-stop', { keepDisk: false });
      assert.deepEqual(await world.harness.holdings(), [], `killed at ${moment.name}`);
    }
    assert.ok(seen.has('paused'), 'the moments reach into it');
  });

  test('a VM that goes on after a rest that was cut short leaves nothing of that behind', async () => {
    for (const moment of world.harness.moments.rest) {
      const { executionId } = await marked('goes-on');
      await world.driver.stop();
      await world.harness.killDuring({ do: 'rest', agentId: 'goes-on', executionId, request: { facts } }, moment);
      await world.begin();
      if ((await state('goes-on')) !== 'suspended') {
        await world.driver.resume('goes-on', executionId);
        await world.harness.killVm('goes-on');
        await world.driver.stop();
        await world.begin();
        assert.equal(await state('goes-on'), 'dead', `killed at ${moment.name}`);
        await rejectsWith(create(request('goes-on', { from: fromRest('goes-on') })), 'saved_missing');
      }
      await world.driver.remove('goes-on', { keepDisk: false });
    }
    assert.deepEqual(await world.harness.holdings(), []);
  });

  test('a control plane killed during a start leaves the machine at rest, or the whole VM', async () => {
    for (const moment of world.harness.moments.start) {
      const { executionId } = await marked('cut-start');
      await world.driver.rest('cut-start', executionId, { facts }, never);
      await world.driver.stop();
      const start = request('cut-start', { from: fromRest('cut-start') });
      await world.harness.killDuring({ do: 'start', request: start }, moment);
      await world.begin();
      const found = await state('cut-start');
      if (found === 'suspended') {
        assert.deepEqual(await world.harness.holdings(), [], `killed at ${moment.name}`);
        await isWhole(await create(request('cut-start', { from: fromRest('cut-start') })));
      } else {
        assert.equal(found, 'running', `killed at ${moment.name}`);
        await isWhole(await create(start));
        await rejectsWith(create(request('cut-start', { from: fromRest('cut-start') })), 'saved_missing');
      }
      await world.driver.remove('cut-start', { keepDisk: false });
      assert.deepEqual(await world.harness.holdings(), [], `killed at ${moment.name}`);
    }
  });
}
