/** What a driver promises about how a guest's daemon knows the host: by a credential of the execution, and by no other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Vm } from '@lodge/ports';
import { never } from './world.ts';
import type { World } from './world.ts';

export function credentialTests(world: World): void {
  const { request, create, guest, removeAll } = world;

  /** Of the VM, which admits who presents it and nobody else: not without one, nor with those of others. */
  const credentialOf = async (vm: Vm, others: readonly string[]): Promise<string> => {
    const own = await world.driver.guestCredential(vm.agentId, vm.address);
    assert.ok(own !== null && !others.includes(own));
    assert.ok(await guest(vm).admits(own));
    for (const other of [null, ...others]) assert.equal(await guest(vm).admits(other), false);
    return own;
  };

  test('a guest knows the host by a credential of its execution, and takes no call that carries none or another', async () => {
    const [vm, neighbour] = [await create(request('known')), await create(request('next-door'))];
    const others = [await credentialOf(neighbour, [])];
    const cloned = await credentialOf(vm, others);
    others.push(cloned);

    await world.driver.pause('known', vm.executionId);
    await world.driver.resume('known', vm.executionId);
    await world.driver.stop();
    // Asked before it has started, too: requests come as soon as the control plane is back.
    assert.equal(await world.harness.driver().guestCredential('known', vm.address), cloned);
    await world.begin();
    assert.equal(await world.driver.guestCredential('known', vm.address), cloned);
    assert.ok(await guest(vm).admits(cloned));

    await world.driver.suspend('known', vm.executionId, {}, never);
    const resumed = await create(request('known', { from: 'snapshot' }));
    others.push(await credentialOf(resumed, others));

    await world.driver.remove('known', { keepDisk: true });
    const booted = await create(request('known', { from: 'boot' }));
    others.push(await credentialOf(booted, others));

    await world.driver.suspend('known', booted.executionId, {}, never);
    await credentialOf(await create(request('known', { from: 'snapshot' })), others);
    await removeAll();
  });

  test('nobody is given the credential of a guest that is not, or no longer, at the address', async () => {
    const [one, two] = [await create(request('one')), await create(request('two'))];
    assert.equal(await world.driver.guestCredential('one', two.address), null);
    assert.equal(await world.driver.guestCredential('nobody', one.address), null);
    await world.driver.suspend('one', one.executionId, {}, never);
    await world.driver.remove('two', { keepDisk: true });
    assert.equal(await world.driver.guestCredential('one', one.address), null);
    assert.equal(await world.driver.guestCredential('two', two.address), null);
    await removeAll();
  });
}
