/**
 * The host's connection table under guests that fill it: each has its own part, whatever it opens and however fast it closes it, and all parts together are three
 * quarters of the table. Parts are small here, as on a host with many guests and a small table.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ConnectionShare,
  shareOf,
  tableSize,
  wantedTable,
} from '../../packages/vm/src/qemu/network/connection-share.ts';
import { type HostNetwork, createHostNetwork } from '../../packages/vm/src/qemu/network/index.ts';
import { enterPrivateHost } from '../../packages/vm/src/qemu/network/testing/private-host.ts';
import { type StubAgent, openNamespace, startAgent } from './agent.ts';
import * as frames from './frames.ts';
import { listen } from './listeners.ts';
import { answers, tcp } from './places.ts';
import { askFrom } from './prober.ts';
import { inNamespace } from './shell.ts';
import * as at from './world.ts';

enterPrivateHost(import.meta.filename);

/** So many that each has a small part, however large the table of this machine is. */
let guests = 500;
const logged: string[] = [];
let world: at.World;
let network: HostNetwork;
let share: ConnectionShare;

before(async () => {
  world = await at.buildWorld();
  guests = Math.max(guests, Math.floor(((await tableSize())! * 0.75) / 390));
  const range = '10.203.0.0/16';
  const options = { instance: 'c', range, brokerPort: at.brokerPort, resolver: at.resolver, guests };
  network = createHostNetwork({ ...options, log: (message) => logged.push(message) });
  await network.start();
  const broker = [{ address: network.brokerHost, port: at.brokerPort }];
  await listen({ name: 'broker', tcp: broker, udp: [] }, () => undefined);
  share = shareOf((await tableSize())!, guests);
});

test('parts of all guests together are three quarters of the table, and no larger than anyone needs', () => {
  for (const size of [16_384, 65_536, 262_144, 4_000_000]) {
    for (const count of [1, 16, 64]) {
      const { entries, open, newPerSecond, newAtOnce } = shareOf(size, count);
      assert.ok(entries * count <= (size * 3) / 4, `${count} guests, ${size}`);
      // Closed ones are kept for 10 s, and swept within 30 s more.
      assert.ok(open + newAtOnce + newPerSecond * 40 <= entries);
      assert.ok(newPerSecond >= 1 && newAtOnce >= 16);
    }
  }
  assert.equal(shareOf(wantedTable(64), 64).entries, shareOf(0, 64).entries);
});

test('a host whose table cannot be made larger says so', () => {
  assert.ok(
    logged.some((line) => line.includes(`each of ${guests} guests may have`)),
    logged.join(),
  );
});

const connections = async (namespace: string | null): Promise<number> =>
  Number(await inNamespace(namespace, ['cat', '/proc/sys/net/netfilter/nf_conntrack_count']));

/** Entries that a flood adds to the guest's own table and the host's. */
async function added(agent: StubAgent, flood: () => Promise<unknown>): Promise<readonly [number, number]> {
  const of = () => Promise.all([connections(agent.vm.name), connections(null)]);
  const [ownBefore, hostBefore] = await of();
  await flood();
  await sleep(300);
  const [own, host] = await of();
  return [own - ownBefore, host - hostBefore];
}

/** One every few milliseconds, for long enough to have more open than may be, at the pace that new ones are let through. */
const datagrams = (agent: StubAgent) => async (): Promise<void> => {
  const until = performance.now() + 20_000;
  for (let port = 10_000; performance.now() < until || port < 12_000; port++) {
    const payload = frames.udp(port, at.udpPort, 'flood');
    const packet = frames.ipv4({ from: '10.0.2.15', to: at.publicAddress, protocol: 17, payload });
    agent.guest.send(frames.ethernet(agent.guest.tapMac, agent.guest.mac, 0x0800, packet));
    await sleep(5);
  }
};

/** Opens connections and closes them at once: the kernel keeps each for a while, and nft's count of open ones forgets it. */
const shortOnes = (agent: StubAgent) => (): Promise<string> => {
  const script = `
const { connect } = require('node:net');
let left = 1500;
const next = () => {
  if (left-- <= 0) return;
  const socket = connect(80, '${at.publicAddress}');
  const timer = setTimeout(() => socket.destroy(), 20);
  socket.on('error', () => {}).on('connect', () => socket.end()).on('close', () => { clearTimeout(timer); next(); });
  socket.resume();
};
for (let i = 0; i < 32; i++) next();`;
  return inNamespace(agent.guest.namespace, [process.execPath, '--eval', script]);
};

const floods = {
  datagrams: { flood: datagrams, most: () => share.open },
  'short connections': { flood: shortOnes, most: () => share.entries },
};

for (const [kind, { flood, most }] of Object.entries(floods)) {
  test(`a flood of ${kind} takes its guest’s part of the table and no more; others and the host go on`, async () => {
    await using agent = await startAgent(world, network, 1);
    await using neighbour = await startAgent(world, network, 2);
    const [own, host] = await added(agent, flood(agent));
    assert.ok(own > 20 && own <= most(), `${own} of ${most()} in the guest's table`);
    assert.ok(host > 20 && host <= share.entries + 10, `${host} of ${share.entries} in the host's`);
    assert.notEqual((await answers(neighbour.guest, tcp('10.0.2.2', at.brokerPort)))[0], null);
    assert.notEqual((await askFrom(null, [tcp(at.publicAddress, 80)]))[0]!.answer, null);
    await openNamespace(network, agent);
    const [, unbounded] = await added(agent, flood(agent));
    assert.ok(unbounded > 2 * share.entries, `${unbounded} without the bound`);
  });
}
