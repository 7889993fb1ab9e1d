/** A driver's promises about how a guest's daemon knows the host: by a credential of the execution, and by no other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromRest, never } from './world.ts';
import type { World } from './world.ts';

export function credentialTests(world: World): void {
  const { request, create, guest, credentialOf, removeAll } = world;

  test('a guest knows the host by a credential of its execution, and takes no call that carries none or another', async () => {
    const [vm, neighbour] = [await create(request('known')), await create(request('next-door'))];
    const others = [await credentialOf(neighbour, [])];
    const cloned = await credentialOf(vm, others);

    await world.driver.pause('known', vm.executionId);
    await world.driver.resume('known', vm.executionId);
    await world.driver.stop();
    // The driver is asked before it has started, too: requests come as soon as the control plane is back.
    assert.equal(await world.harness.driver().guestCredential('known', vm.address), cloned);
    await world.begin();
    assert.equal(await world.driver.guestCredential('known', vm.address), cloned);
    assert.ok(await guest(vm).admits(cloned));

    await world.driver.rest('known', vm.executionId, { facts: {} }, never);
    // A booted guest has its own credential as well: the tests of suspension look at that.
    await credentialOf(await create(request('known', { from: fromRest('known') })), [...others, cloned]);
    await removeAll();
  });

  test('nobody is given the credential of a guest that is not, or no longer, at the address', async () => {
    const [one, two] = [await create(request('one')), await create(request('two'))];
    assert.equal(await world.driver.guestCredential('one', two.address), null);
    assert.equal(await world.driver.guestCredential('nobody', one.address), null);
    await world.driver.rest('one', one.executionId, { facts: {} }, never);
    await world.driver.remove('two', { keepDisk: true });
    assert.equal(await world.driver.guestCredential('one', one.address), null);
    assert.equal(await world.driver.guestCredential('two', two.address), null);
    await removeAll();
  });
}
