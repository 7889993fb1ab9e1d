/**
 * A guest that was taken over and speaks below its network stack: forged senders, fragments, tags, options, odd protocols, floods. Nothing of it gets out of its
 * namespace, and nothing of it changes what the namespace or the host believe. Each attack works once the protections are taken away.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { enterPrivateHost } from '../../packages/vm/src/qemu/network/testing/private-host.ts';
import { type StubAgent, neighbours, openHost, openNamespace, startAgent } from './agent.ts';
import * as frames from './frames.ts';
import { inNamespace, nft } from './shell.ts';
import * as at from './world.ts';

enterPrivateHost(import.meta.filename);

const own = '10.0.2.15';
const broadcast = 'ff:ff:ff:ff:ff:ff';
const UDP = 17;
let world: at.World;
let neighbour: StubAgent;

before(async () => {
  world = await at.buildWorld();
  neighbour = await startAgent(world, world.a, 2);
});

const datagram = (text: string): Buffer => frames.udp(4321, at.udpPort, text);

interface From4 {
  readonly from?: string;
  readonly to: string;
  readonly options?: Buffer;
  readonly hardware?: string;
}

const packet4 = (agent: StubAgent, text: string, { from = own, to, options, hardware }: From4): Buffer =>
  frames.ethernet(
    hardware ?? agent.guest.tapMac,
    agent.guest.mac,
    0x0800,
    frames.ipv4({ from, to, protocol: UDP, payload: datagram(text), ...(options && { options }) }),
  );

function fragments(agent: StubAgent, text: string, to: string): Buffer[] {
  const whole = datagram(text);
  const cut = [
    { offset: 0, more: true, payload: whole.subarray(0, 8) },
    { offset: 8, more: false, payload: whole.subarray(8) },
  ];
  return cut.map(({ payload, ...fragment }) => {
    const packet = frames.ipv4({ from: own, to, protocol: UDP, payload, fragment });
    return frames.ethernet(agent.guest.tapMac, agent.guest.mac, 0x0800, packet);
  });
}

function packet6(agent: StubAgent, text: string, to: string, hardware = agent.guest.tapMac): Buffer {
  const payload = frames.sealed6(agent.guest6, to, UDP, datagram(text));
  return frames.ethernet(hardware, agent.guest.mac, 0x86dd, frames.ipv6(agent.guest6, to, UDP, payload));
}

const recordRoute = Buffer.from([7, 7, 4, 0, 0, 0, 0, 0]);

/** Datagrams that nobody may hear; the text of each is its name. */
const datagrams: Record<string, (agent: StubAgent, text: string) => Buffer[]> = {
  'another address of the link as sender': (agent, text) => [
    packet4(agent, text, { from: '10.0.2.77', to: at.publicAddress }),
  ],
  'the neighbour as sender': (agent, text) => [
    packet4(agent, text, { from: neighbour.vm.guestAddress, to: at.publicAddress }),
  ],
  'a public address as sender': (agent, text) => [packet4(agent, text, { from: '8.8.8.8', to: at.publicAddress })],
  'the host end as sender, to the host': (agent, text) => [
    packet4(agent, text, { from: '10.201.0.1', to: '192.168.77.2' }),
  ],
  'fragments to a private address': (agent, text) => fragments(agent, text, '10.9.9.9'),
  'fragments to the host': (agent, text) => fragments(agent, text, '5.9.10.2'),
  'a tagged frame': (agent, text) => [frames.tagged(packet4(agent, text, { to: at.publicAddress }), 0)],
  'a tagged frame to a private address': (agent, text) => [frames.tagged(packet4(agent, text, { to: '10.9.9.9' }), 0)],
  'the option record route': (agent, text) => [packet4(agent, text, { to: at.publicAddress, options: recordRoute })],
  loopback: (agent, text) => [packet4(agent, text, { to: '127.0.0.1' })],
  'everyone on the link': (agent, text) => [packet4(agent, text, { to: '255.255.255.255', hardware: broadcast })],
  'IPv6 to a metadata address': (agent, text) => [packet6(agent, text, 'fd00:ec2::254')],
  'IPv6 to a public address': (agent, text) => [packet6(agent, text, '2001:db8:9::9')],
  'IPv6 to the host': (agent, text) => [packet6(agent, text, 'fd00:77::2')],
};

/** A frame that passes arrives within milliseconds; on a busy machine, within a minute. */
async function passes(isThere: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await isThere()) && performance.now() < deadline) await sleep(10);
  // A forbidden frame would arrive now.
  await sleep(500);
}

/** Names of the attacks whose datagram somebody heard. */
async function heardOf(agent: StubAgent): Promise<string[]> {
  const before = world.heard.length;
  for (const [name, build] of Object.entries(datagrams))
    for (const frame of build(agent, name)) agent.guest.send(frame);
  // The last frame is one that always arrives: what came before it has been dealt with.
  agent.guest.send(packet4(agent, 'last', { to: at.publicAddress }));
  await passes(() => world.heard.slice(before).includes('internet: last'));
  const heard = new Set(world.heard.slice(before).map((line) => line.replace(/^.*?: /, '')));
  return Object.keys(datagrams).filter((name) => heard.has(name));
}

test('no forged, tagged, fragmented or IPv6 datagram is heard by anyone', { timeout: 300_000 }, async () => {
  await using agent = await startAgent(world, world.a, 1);
  assert.deepEqual(await heardOf(agent), []);
  await using _ = await openHost(world);
  assert.deepEqual(await heardOf(agent), ['fragments to the host'], 'the namespace by itself');
});

test('each of these datagrams is heard when the protections are taken away', { timeout: 300_000 }, async () => {
  await using agent = await startAgent(world, world.a, 1);
  await using _ = await openHost(world);
  await openNamespace(world.a, agent);
  assert.deepEqual(await heardOf(agent), Object.keys(datagrams));
});

test('the host takes from a guest’s link only what bears that link’s address', async () => {
  await using agent = await startAgent(world, world.a, 1);
  await openNamespace(world.a, agent);
  await nft(agent.vm.name, 'flush chain inet open translate_source');
  const senders = [neighbour.vm.guestAddress, own, '8.8.8.8'];
  const heard = async (count: number): Promise<string[]> => {
    const before = world.heard.length;
    for (const from of senders) agent.guest.send(packet4(agent, from, { from, to: at.publicAddress }));
    await passes(() => world.heard.length >= before + count);
    return world.heard.slice(before).sort();
  };
  assert.deepEqual(await heard(0), []);
  await using _ = await openHost(world);
  assert.deepEqual(await heard(senders.length), senders.map((sender) => `internet: ${sender}`).sort());
});

async function echoed(agent: StubAgent, addresses: readonly string[], count: number): Promise<string[]> {
  addresses.forEach((to, id) => {
    const packet = frames.ipv4({ from: own, to, protocol: 1, payload: frames.icmpEcho(id) });
    agent.guest.send(frames.ethernet(agent.guest.tapMac, agent.guest.mac, 0x0800, packet));
  });
  const heard = (): string[] => {
    const ids = new Set(agent.guest.received.map(frames.echoReplyId));
    return addresses.filter((_, id) => ids.has(id));
  };
  await passes(() => heard().length >= count);
  return heard();
}

test('a guest can ping public addresses alone', async () => {
  await using agent = await startAgent(world, world.a, 1);
  const others = [
    '10.0.2.2',
    agent.vm.guestAddress,
    world.a.brokerHost,
    world.b.brokerHost,
    ...at.hostAddresses,
    ...at.privateAddresses,
  ];
  assert.deepEqual(await echoed(agent, [...others, at.publicAddress], 1), [at.publicAddress]);
  await using _ = await openHost(world);
  await openNamespace(world.a, agent);
  assert.deepEqual(await echoed(agent, others, others.length), others);
});

test('only TCP, UDP and pings get out: no tunnels', async () => {
  await using agent = await startAgent(world, world.a, 1);
  const protocols = [4, 41, 47, 50, 132];
  const counter = 'counter inet seen odd';
  await nft(
    'internet',
    `table inet seen {
  counter odd { }
  chain arriving {
    type filter hook input priority filter; policy accept;
    ip protocol { ${protocols.join(', ')} } counter name odd
  }
}`,
  );
  const counted = async (): Promise<number> =>
    Number(/packets (\d+)/.exec(await inNamespace('internet', ['nft', 'list', ...counter.split(' ')]))?.[1]);
  const seen = async (most: number): Promise<number> => {
    await inNamespace('internet', ['nft', 'reset', ...counter.split(' ')]);
    for (const protocol of protocols) {
      const packet = frames.ipv4({ from: own, to: at.publicAddress, protocol, payload: Buffer.alloc(64) });
      agent.guest.send(frames.ethernet(agent.guest.tapMac, agent.guest.mac, 0x0800, packet));
    }
    await passes(async () => (await counted()) >= most);
    return counted();
  };
  assert.equal(await seen(0), 0);
  await openNamespace(world.a, agent);
  assert.ok((await seen(1)) > 0);
});

test('a guest cannot make its namespace believe in other stations or routers', async () => {
  await using agent = await startAgent(world, world.a, 1);
  const { mac } = agent.guest;
  const attack = async (worked: () => Promise<boolean> | boolean): Promise<void> => {
    for (const sender of ['10.0.2.77', '10.0.2.78']) {
      agent.guest.send(frames.ethernet(broadcast, mac, 0x0806, frames.arpRequest(mac, sender, '10.0.2.2')));
    }
    const from = 'fe80::77';
    const message = frames.sealed6(from, 'ff02::1', 58, frames.routerAdvertisement());
    agent.guest.send(frames.ethernet('33:33:00:00:00:01', mac, 0x86dd, frames.ipv6(from, 'ff02::1', 58, message, 255)));
    await passes(worked);
  };
  const routes6 = (): Promise<string> => inNamespace(agent.vm.name, ['ip', '-6', 'route', 'show', 'default']);
  const believed = async (): Promise<string[]> =>
    (await neighbours(agent.vm.name, 'tap0')).filter((address) => address !== own).sort();
  await attack(() => true);
  assert.deepEqual(await believed(), []);
  assert.equal(await routes6(), '');
  await openNamespace(world.a, agent);
  await attack(async () => (await believed()).length === 2 && (await routes6()) !== '');
  assert.deepEqual(await believed(), ['10.0.2.77', '10.0.2.78']);
  assert.match(await routes6(), /fe80::77/);
});
