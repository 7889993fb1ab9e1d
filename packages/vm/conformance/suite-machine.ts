/** A driver's promises about a running VM: it can be frozen, sized, measured and listened to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sizes } from '@lodge/domain';
import { formOf } from '@lodge/testkit/forms';
import { browserText } from './harness.ts';
import { clockErrorMs, fromRest, never, observed, rejectsWith } from './world.ts';
import type { World } from './world.ts';

export function machineTests(world: World): void {
  pauseTests(world);
  sizeTests(world);
  const { request, create, guest, removeAll } = world;

  test('what a VM takes up is told, and what nobody has is null', async () => {
    assert.equal(await world.driver.usage('nobody'), null);
    const wanted = request('measured');
    await create(wanted);
    const running = await world.driver.usage('measured');
    assert.ok(running && running.memoryMib > 0 && running.diskMib > 0 && running.cpuSeconds > 0);
    assert.equal(running.snapshotMib, 0);
    assert.equal(running.executionId, wanted.executionId, 'whose counters these are');
    assert.ok(running.egressBytes >= 0);
    await world.driver.rest('measured', wanted.executionId, { facts: {} }, never);
    const suspended = await world.driver.usage('measured');
    assert.ok(suspended && suspended.snapshotMib > 0 && suspended.diskMib > 0);
    assert.deepEqual([suspended.memoryMib, suspended.cpuSeconds], [0, 0]);
    await create(request('measured', { from: fromRest('measured', false) }));
    await world.driver.remove('measured', { keepDisk: true });
    const disk = await world.driver.usage('measured');
    assert.ok(disk && disk.diskMib > 0);
    assert.deepEqual([disk.memoryMib, disk.snapshotMib, disk.cpuSeconds], [0, 0, 0]);
    await removeAll();
    assert.equal(await world.driver.usage('measured'), null);
  });

  test('what a guest prints is read once, its end when it is much, and nothing where no VM runs', async () => {
    assert.equal(await world.driver.readConsole('nobody'), '');
    const vm = await create(request('prints'));
    await world.driver.readConsole('prints');
    await guest(vm).print('one line ✓\n');
    assert.match(await world.driver.readConsole('prints'), /^one line ✓\r?\n$/);
    assert.equal(await world.driver.readConsole('prints'), '');
    await guest(vm).print(`${'x'.repeat(70_000)}the end`);
    const much = await world.driver.readConsole('prints');
    assert.ok(much.length <= 65_536 && much.length > 60_000, `${much.length} characters`);
    assert.ok(much.endsWith('the end'));
    await removeAll();
    assert.equal(await world.driver.readConsole('prints'), '');
  });
}

function pauseTests(world: World): void {
  const { request, create, state, guest, removeAll, eventually } = world;

  test('a paused VM stands still with all it has, and goes on where it was, by the right time', async () => {
    const wanted = request('frozen');
    const vm = await create(wanted);
    await guest(vm).remember('mark', 'before');
    await world.driver.pause('frozen', wanted.executionId);
    await world.driver.pause('frozen', wanted.executionId);
    assert.equal(await state('frozen'), 'paused');
    assert.deepEqual(await world.driver.list(), [observed(vm, 'paused')]);
    assert.equal(await guest(vm).answers(), false);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await world.driver.resume('frozen', wanted.executionId);
    await world.driver.resume('frozen', wanted.executionId);
    assert.equal(await state('frozen'), 'running');
    assert.ok((await clockErrorMs(guest(vm))) < 1000, 'the time of the pause is made up for');
    assert.equal(await guest(vm).recall('mark'), 'before');
    await removeAll();
  });

  test('a VM that does not answer is told as such beside the others, outlives its driver, and is removed all the same', async () => {
    const { harness } = world;
    const silent = request('silent');
    const vm = await create(silent);
    const other = await create(request('answers'));
    const seen = async (agentId: string) => (await world.driver.list()).find((each) => each.agentId === agentId);
    const expect = async (): Promise<void> => {
      const { why, ...found } = (await seen('silent'))!;
      assert.deepEqual(found, observed(vm, 'unresponsive'));
      assert.match(why!, /\w/);
      assert.deepEqual(await seen('answers'), observed(other, 'running'));
    };
    await harness.silence('silent', true);
    await expect();
    assert.equal(await world.driver.death('silent'), null);
    await rejectsWith(create(silent), 'timeout');
    assert.ok(((await world.driver.usage('silent'))?.cpuSeconds ?? 0) > 0, 'its counters are the host’s');
    await world.driver.stop();
    await world.begin();
    await expect();
    await harness.silence('silent', false);
    await eventually('it answers again', async () => (await state('silent')) === 'running');
    assert.deepEqual(world.exits, []);
    await harness.silence('silent', true);
    await world.driver.remove('silent', { keepDisk: false });
    assert.deepEqual(await world.driver.list(), [observed(other, 'running')]);
    await removeAll();
  });

  test('what does not run is neither paused, resumed, suspended nor sized: it is gone', async () => {
    const { driver } = world;
    const all = async (agentId: string, executionId: string): Promise<void> => {
      await rejectsWith(driver.pause(agentId, executionId), 'gone');
      await rejectsWith(driver.resume(agentId, executionId), 'gone');
      await rejectsWith(driver.rest(agentId, executionId, { facts: {} }, never), 'gone');
      await rejectsWith(driver.resize(agentId, executionId, sizes.small, never), 'gone');
    };
    await all('nobody', 'e1');
    const wanted = request('other');
    const vm = await create(wanted);
    await all('other', 'older');
    assert.ok(await guest(vm).answers());
    await world.harness.killVm('other');
    await all('other', wanted.executionId);
    await removeAll();
  });

  test('calls for one VM are served in the order they came', async () => {
    const wanted = request('ordered');
    const vm = await create(wanted);
    const { executionId } = wanted;
    await guest(vm).remember('mark', 'kept');
    const { driver } = world;
    await Promise.all([
      driver.pause('ordered', executionId),
      driver.resume('ordered', executionId),
      driver.pause('ordered', executionId),
    ]);
    assert.equal(await state('ordered'), 'paused');
    await Promise.all([driver.resume('ordered', executionId), driver.pause('ordered', executionId)]);
    assert.equal(await state('ordered'), 'paused');
    const again = request('ordered', { from: fromRest('ordered') });
    const [first, second, next] = await Promise.all([
      driver.rest('ordered', executionId, { facts: {} }, never),
      driver.rest('ordered', executionId, { facts: {} }, never),
      create(again),
    ]);
    assert.ok(first.bytes > 0 && second.bytes > 0);
    assert.equal(await guest(next).recall('mark'), 'kept');
    await removeAll();
    assert.deepEqual(await world.harness.holdings(), []);
  });

  test('a paused VM is adopted as paused, told when it dies, and one asked for again runs', async () => {
    const wanted = request('sleeps');
    const vm = await create(wanted);
    await guest(vm).remember('mark', 'kept');
    await world.driver.pause('sleeps', wanted.executionId);
    await world.driver.stop();
    await world.begin();
    assert.deepEqual(await world.driver.list(), [observed(vm, 'paused')]);
    assert.deepEqual(await create(wanted), vm);
    assert.equal(await state('sleeps'), 'running');
    assert.equal(await guest(vm).recall('mark'), 'kept');
    await world.driver.pause('sleeps', wanted.executionId);
    await world.harness.killVm('sleeps');
    await world.eventually('the exit is told', () => world.exits.some((exit) => exit.agentId === 'sleeps'));
    assert.equal(await state('sleeps'), 'dead');
    await removeAll();
  });
}

function sizeTests(world: World): void {
  const { request, create, guest, removeAll } = world;
  const { small, medium, large, xlarge } = sizes;
  const steps = formOf<readonly (typeof sizes)[keyof typeof sizes][]>({
    short: [large, small, medium],
    long: [xlarge, medium, large, small, medium],
  });

  test('a running VM grows and shrinks, and keeps its size through a snapshot', async () => {
    const wanted = request('grows', { machine: sizes.small });
    const vm = await create(wanted);
    const { executionId } = wanted;
    await guest(vm).remember('mark', 'kept');
    for (const size of steps) {
      const machine = await world.driver.resize('grows', executionId, size, never);
      assert.deepEqual([machine.vcpus, machine.diskGib], [size.vcpus, size.diskGib]);
      assert.ok(machine.memoryMib >= size.memoryMib && machine.memoryMib <= sizes.xlarge.memoryMib);
      assert.equal((await guest(vm).machine()).vcpus, size.vcpus);
      // A guest that gives memory back slowly is asked for no more of it, and takes back the block that it was about to
      // give.
      await world.eventually('the guest has the memory that was told', async () => {
        const { memoryMib } = await guest(vm).machine();
        return memoryMib > machine.memoryMib - 200 && memoryMib <= machine.memoryMib;
      });
    }
    await world.driver.rest('grows', executionId, { facts: {} }, never);
    const same = await create(request('grows', { from: fromRest('grows'), machine: sizes.medium }));
    assert.equal(same.machine.vcpus, sizes.medium.vcpus);
    assert.equal((await guest(same).machine()).vcpus, sizes.medium.vcpus);
    assert.equal(await guest(same).recall('mark'), 'kept');
    await world.driver.rest('grows', same.executionId, { facts: {} }, never);
    const larger = await create(request('grows', { from: fromRest('grows'), machine: sizes.xlarge }));
    assert.deepEqual(larger.machine, sizes.xlarge);
    assert.equal((await guest(larger).machine()).vcpus, sizes.xlarge.vcpus);
    assert.equal(await guest(larger).recall('mark'), 'kept');
    await removeAll();
  });

  test('a running guest sees the browser’s disk from when it is shown, and through a stop; one that is made later has it', async () => {
    const wanted = request('browses');
    const vm = await create(wanted);
    assert.equal(await guest(vm).browserDisk(), '');
    await world.eventually('the disk is there', async () => {
      const { state } = await world.driver.showBrowser('browses', wanted.executionId);
      assert.ok(state === 'shown' || state === 'building', state);
      return state === 'shown';
    });
    assert.equal(await guest(vm).browserDisk(), browserText);
    assert.deepEqual(await world.driver.showBrowser('browses', wanted.executionId), { state: 'shown', message: null });
    await world.driver.rest('browses', wanted.executionId, { facts: {} }, never);
    await rejectsWith(world.driver.showBrowser('browses', wanted.executionId), 'gone');
    const again = await create(request('browses', { from: fromRest('browses') }));
    assert.equal(await guest(again).browserDisk(), browserText);
    const later = request('later');
    const other = await create(later);
    await world.driver.showBrowser('later', later.executionId);
    assert.equal(await guest(other).browserDisk(), browserText);
    await removeAll();
  });

  test('a paused VM is not sized', async () => {
    const wanted = request('stiff');
    await create(wanted);
    await world.driver.pause('stiff', wanted.executionId);
    await rejectsWith(world.driver.resize('stiff', wanted.executionId, sizes.large, never), 'failed');
    await removeAll();
  });
}
