/** Guests that a control plane may have left frozen go on, and those that are being saved do not. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { dialTo, guestClient, noCredential } from '@lodge/guest';
import type { Watched } from '../machine/watch.ts';
import { ClockKeeper } from './clock-keeper.ts';

const never = new AbortController().signal;
const vm = { agentId: 'agent0000001', executionId: 'e1' } as Watched;

/** A keeper of one guest; the test gives its daemon's answers to the time. */
async function open() {
  const asked: ServerResponse[] = [];
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      asked.push(response);
      server.emit('asked');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const guest = guestClient({ dial: dialTo('127.0.0.1'), port, credential: noCredential });
  const warnings: string[] = [];
  const log = { debug() {}, warn: (_fields: object, message: string) => void warnings.push(message) };
  const setClock = (_vm: Watched, goOn: boolean, signal: AbortSignal) => guest.setClock({ goOn, signal });
  const keeper = new ClockKeeper({ watch: { all: () => [vm] }, setClock, log, everyMs: 20 });
  return {
    keeper,
    asked,
    warnings,
    async answer(status: number): Promise<void> {
      while (asked.length === 0) await once(server, 'asked');
      asked.shift()!.writeHead(status, { 'x-guestd-protocol': '1' }).end('{}');
    },
    [Symbol.dispose]() {
      keeper.stop();
      server.closeAllConnections();
      server.close();
    },
  };
}
const looks = () => new Promise((resolve) => setTimeout(resolve, 200));

test('a guest that may be frozen is told to go on until it has answered, and its operator once', async () => {
  using world = await open();
  world.keeper.start();
  for (const status of [503, 503, 503, 200]) await world.answer(status);
  await looks();
  assert.deepEqual([world.asked.length, world.warnings.length], [0, 1]);
});

test('nothing lets a guest go on while it is being saved: neither what was under way, nor a look', async () => {
  using world = await open();
  world.keeper.start();
  while (world.asked.length === 0) await new Promise(setImmediate);
  const holding = world.keeper.hold(vm.agentId, never);
  let isHeld = false;
  void holding.then(() => (isHeld = true));
  await looks();
  assert.equal(isHeld, false, 'the call under way comes before the freeze');
  await world.answer(503);
  const letGo = await holding;
  await looks();
  assert.deepEqual(world.asked, []);
  letGo();
  await world.answer(200);
});

test('a save that is given up does not wait for a silent guest', async () => {
  using world = await open();
  world.keeper.start();
  while (world.asked.length === 0) await new Promise(setImmediate);
  const giveUp = new AbortController();
  const holding = world.keeper.hold(vm.agentId, giveUp.signal);
  giveUp.abort();
  (await holding)();
});
