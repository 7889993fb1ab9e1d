/** The running connections of a VM that is gone, and the next machine with its number. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type HostNetwork, createHostNetwork } from '../../packages/vm/src/qemu/network/index.ts';
import { enterPrivateHost } from '../../packages/vm/src/qemu/network/testing/private-host.ts';
import { type StubAgent, guestPorts, openNamespace, startAgent } from './agent.ts';
import { Conversation } from './conversation.ts';
import * as frames from './frames.ts';
import * as at from './world.ts';

enterPrivateHost(import.meta.filename);

/** The host sends a segment again after 0.2 s, 0.4 s, 0.8 s ...: the pause is as long as a slow start before it. */
const sentAgainMs = 60_000;
const secret = 'of the machine before';

let world: at.World;
let network: HostNetwork;
/** Both ends of what is open: each keeps this process, or one that it has started, until it is ended. */
const accepted: Socket[] = [];
const begun: Socket[] = [];
const conversations: Conversation[] = [];

before(async () => {
  world = await at.buildWorld();
  network = createHostNetwork({
    instance: 's',
    range: '10.203.0.0/24',
    brokerPort: at.brokerPort,
    resolver: at.resolver,
    log: () => undefined,
  });
  await network.start();
  const broker = createServer((socket) => accepted.push(socket.on('error', () => undefined)));
  await once(broker.listen(at.brokerPort, network.brokerHost), 'listening');
  broker.unref();
  assert.equal((broker.address() as AddressInfo).port, at.brokerPort);
});

after(() => {
  for (const conversation of conversations) conversation[Symbol.dispose]();
  for (const socket of [...accepted, ...begun]) socket.destroy();
});

/** Null when it is refused, or not answered. */
async function converse({ guest }: StubAgent): Promise<Conversation | null> {
  const conversation = await Conversation.open(guest.namespace, '10.0.2.2', at.brokerPort);
  if (conversation) conversations.push(conversation);
  return conversation;
}

async function until(holds: () => boolean): Promise<boolean> {
  for (const began = performance.now(); !holds() && performance.now() - began < sentAgainMs;) await sleep(50);
  return holds();
}

const heard = ({ guest }: StubAgent): boolean => guest.received.some((frame) => frame.includes(secret));

/** Connections of the first machine, both ways, on which the host says something once nobody is there. */
async function leftConnections(): Promise<Socket[]> {
  await using first = await startAgent(world, network, 1);
  assert.notEqual(await converse(first), null);
  const toGuest = connect({ host: first.vm.guestAddress, port: guestPorts[0]! }).on('error', () => undefined);
  begun.push(toGuest);
  await once(toGuest, 'connect');
  return [accepted.at(-1)!, toGuest];
}

test('a machine hears nothing of what was under way to the one that had its number before', async () => {
  const sockets = await leftConnections();
  for (const socket of sockets) socket.write(secret);
  await using next = await startAgent(world, network, 1);
  assert.ok(await until(() => sockets.every(({ destroyed }) => destroyed)), 'the host is told that they are over');
  assert.equal(heard(next), false);
  assert.notEqual(await converse(next), null);
});

test('a guest goes on with no connection that began in another namespace, and is told so', async () => {
  await using agent = await startAgent(world, network, 2);
  const [from, to] = ['10.0.2.15', '10.0.2.2'];
  const payload = frames.tcpMidst(from, 40_000, to, at.brokerPort, 'in the midst');
  const packet = frames.ipv4({ from, to, protocol: 6, payload });
  agent.guest.send(frames.ethernet(agent.guest.tapMac, agent.guest.mac, 0x0800, packet));
  await sleep(500);
  const isReset = (frame: Buffer): boolean =>
    frame[23] === 6 && frame.readUInt16BE(36) === 40_000 && (frame[47]! & 4) !== 0;
  assert.ok(agent.guest.received.some(isReset));
});

test('without the namespace’s firewall it would', async () => {
  const sockets = await leftConnections();
  await using next = await startAgent(world, network, 1);
  await openNamespace(network, next);
  for (const socket of sockets) socket.write(secret);
  assert.ok(await until(() => heard(next)));
});
