/** A driver's promises about the way to a guest's TCP ports. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { text } from 'node:stream/consumers';
import { fromRest, never, rejectsWith } from './world.ts';
import type { World } from './world.ts';

/** A port at which nothing listens. */
const silentPort = 9;
const request = 'GET / HTTP/1.1\r\nhost: guest\r\nconnection: close\r\n\r\n';

export function dialTests(world: World): void {
  const { create, guest, removeAll, eventually } = world;

  test('a port of a guest is reached while its VM runs, and of no other', async () => {
    const wanted = world.request('dialled');
    const vm = await create(wanted);
    const port = await guest(vm).port();
    const dial = (signal = never) => world.driver.dial('dialled', port, signal);
    const answers = async (): Promise<boolean> => {
      const socket = await dial();
      socket.write(request);
      return (await text(socket)).startsWith('HTTP/1.1 ');
    };
    assert.ok(await answers());
    await rejectsWith(world.driver.dial('dialled', silentPort, never), 'unreachable');
    await rejectsWith(dial(AbortSignal.abort()), 'aborted');
    await rejectsWith(world.driver.dial('nobody', port, never), 'gone');

    // Requests come as soon as the control plane is back.
    await world.driver.stop();
    const early = await world.harness.driver().dial('dialled', port, never);
    early.destroy();
    await world.begin();
    assert.ok(await answers());

    await world.driver.rest('dialled', wanted.executionId, { facts: {} }, never);
    await rejectsWith(dial(), 'gone');
    await create(world.request('dialled', { from: fromRest('dialled') }));
    assert.ok(await answers());
    await world.harness.killVm('dialled');
    await eventually('its end is noticed', () => isGone(dial()));
    await create(world.request('dialled', { from: 'boot' }));
    assert.ok(await answers());
    await world.driver.remove('dialled', { keepDisk: true });
    await rejectsWith(dial(), 'gone');
    await removeAll();
  });
}

/** Whether it fails because there is no VM. Before that is known, nothing is reached, or the connection still comes about. */
const isGone = (dialled: Promise<{ destroy(): void }>): Promise<boolean> =>
  dialled.then(
    (socket) => (socket.destroy(), false),
    (error: unknown) => (error as { readonly code?: unknown }).code === 'gone',
  );
