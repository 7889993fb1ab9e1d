/** A guest's traffic is bounded by its machine's size, however much it floods. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { enterPrivateHost } from '../../packages/vm/src/qemu/network/testing/private-host.ts';
import { startAgent } from './agent.ts';
import type { StubAgent } from './agent.ts';
import { answers, tcp } from './places.ts';
import { inNamespace } from './shell.ts';
import * as at from './world.ts';

enterPrivateHost(import.meta.filename);

const datagrams = 3000;
const datagramBytes = 1400;
/** So little that what may go at once, 64 KiB, is most of what a test sees. */
const mbit = 0.01;
const bytesPerSecond = (mbit * 1_000_000) / 8;

let world: at.World;
before(async () => {
  world = await at.buildWorld();
});

/**
 * Sends datagrams to one place as fast as it can, after one that is answered. Returns the bytes that left, and the seconds.
 */
async function flood(agent: StubAgent): Promise<{ readonly bytes: number; readonly seconds: number }> {
  const script = `
const socket = require('node:dgram').createSocket('udp4');
let left = ${datagrams};
const next = () => (left-- > 0 ? socket.send(Buffer.alloc(${datagramBytes}), left % 50 === 0 ? () => setTimeout(next, 10) : next) : setTimeout(() => process.exit(), 500));
socket.connect(${at.udpPort}, '${at.publicAddress}', () => socket.send('first'));
socket.once('message', next);`;
  const [started, before] = [performance.now(), await world.a.egressBytes(1)];
  await inNamespace(agent.guest.namespace, [process.execPath, '--eval', script]);
  return { bytes: (await world.a.egressBytes(1)) - before, seconds: (performance.now() - started) / 1000 };
}

test('a flood is bounded by the bandwidth of its machine, which can change; the broker is not part of it', async () => {
  await using agent = await startAgent(world, world.a, 1, { mbit });
  const bounded = await flood(agent);
  const most = bytesPerSecond * (bounded.seconds + 1) + 65_536;
  assert.ok(bounded.bytes > 20 * datagramBytes && bounded.bytes < most, `${bounded.bytes} bytes of at most ${most}`);
  const broker = tcp('10.0.2.2', at.brokerPort);
  assert.notEqual((await answers(agent.guest, broker))[0], null);
  await world.a.setBandwidth(1, null);
  const unbounded = await flood(agent);
  assert.ok(unbounded.bytes > 2 * bounded.bytes, `${unbounded.bytes} bytes without a bound, ${bounded.bytes} with it`);
});
