/**
 * Refusals by an agent's egress rules are reported, at little cost; and machines that an older release started accept rules
 * too.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type HostNetwork, createHostNetwork } from '../../packages/vm/src/qemu/network/index.ts';
import { enterPrivateHost } from '../../packages/vm/src/qemu/network/testing/private-host.ts';
import { guestPorts } from './agent.ts';
import { Conversation } from './conversation.ts';
import {
  buildEgressWorld,
  echoPort,
  found,
  list,
  nameServer,
  open,
  options,
  other,
  range,
  shop,
  wordsOf,
} from './egress-world.ts';
import type { EgressWorld } from './egress-world.ts';
import { makeOlder } from './older-rules.ts';
import { reached, tcp, udp, words } from './places.ts';
import { letGo, nft, sysctl } from './shell.ts';
import * as at from './world.ts';

enterPrivateHost(import.meta.filename);

let network: HostNetwork;
let agentWith: EgressWorld['agentWith'];

before(async () => {
  ({ network, agentWith } = await buildEgressWorld());
});

const broker = tcp('10.0.2.2', at.brokerPort);

test('what is refused is told once, with what and when, and the rest is counted', async () => {
  await using agent = await agentWith(1, list('shop.example'));
  const since = Date.now();
  await reached(agent.guest, [tcp(other, 80), tcp(other, 80), udp(other, at.udpPort), tcp('10.9.9.9', 80)]);
  await found(agent, 'other.example', 'other.example');
  const first = await network.readRefused(1);
  assert.deepEqual(first.refused.map(wordsOf).toSorted(), [
    'dns other.example',
    `tcp 10.9.9.9 80`,
    `tcp ${other} 80`,
    `udp ${other} ${at.udpPort}`,
  ]);
  for (const { at: when } of first.refused) assert.ok(when.getTime() > since - 2000 && when.getTime() <= Date.now());
  assert.deepEqual(await network.readRefused(1), { refused: [], more: 0 });
  const many = Array.from({ length: 200 }, (_, i) => udp(other, 1000 + i));
  await agent.guest.ask(many);
  const { refused, more } = await network.readRefused(1);
  assert.deepEqual([refused.length, more], [100, 100]);
});

test('what is refused while others are read is told too', async () => {
  await using agent = await agentWith(1, list('shop.example'));
  const sent = Array.from({ length: 240 }, (_, i) => udp(other, 1000 + i));
  // Nobody answers, so each question waits out its time; they begin one after another.
  const pieces = Array.from({ length: 24 }, (_, i) => sent.slice(i * 10, (i + 1) * 10));
  let isSending = true;
  const sending = Promise.all(pieces.map((piece, i) => sleep(i * 250).then(() => agent.guest.ask(piece)))).finally(
    () => (isSending = false),
  );
  const reported = new Set<string>();
  for (let last = false; !last;) {
    last = !isSending;
    const { refused, more } = await network.readRefused(1);
    assert.equal(more, 0);
    for (const connection of refused) reported.add(wordsOf(connection));
  }
  await sending;
  assert.deepEqual(
    sent.map((target) => words(target)).filter((place) => !reported.has(place)),
    [],
  );
});

test('while nothing is refused no process is started to look for it, and what is refused then is told', async () => {
  await using agent = await agentWith(1, list('shop.example'));
  await found(agent, 'shop.example');
  const inside = spawn('nsenter', [`--net=/run/netns/${agent.vm.name}`, 'sleep', '600'], { stdio: 'ignore' });
  letGo(inside);
  await once(inside, 'spawn');
  // Its kernel asks for routers now and then, which nobody lets out.
  await sysctl(agent.guest.namespace, { 'ipv6/conf/all/disable_ipv6': 1 });
  const read = (): Promise<string[]> =>
    network.readRefused(1, inside.pid).then(({ refused }) => refused.map(wordsOf).toSorted());
  const spared = (): Promise<void> => sleep(1000);
  await spared();
  const targets = [tcp(shop, 80), tcp('10.0.2.2', at.brokerPort)];
  // A stray frame of its kernel's may be held back too; not each time.
  let seen = ['not looked yet'];
  for (let n = 0; n < 5 && seen.length > 0; n += 1) {
    await spared();
    await read();
    await spared();
    // Nobody sent this: it shows in the kernel's sets.
    await nft(agent.vm.name, 'add element inet lodge refused_pings { 23.9.9.9 }');
    assert.deepEqual(await reached(agent.guest, targets), targets.map(words));
    seen = await read();
  }
  assert.deepEqual(seen, []);
  await reached(agent.guest, [tcp(other, 80)]);
  await spared();
  assert.deepEqual(await read(), ['icmp 23.9.9.9', `tcp ${other} 80`]);
});

test('a machine that an older release started takes bandwidth and rules, which hold, and is reached as before', async () => {
  await using agent = await agentWith(1, open);
  const { brokerHost } = network;
  await makeOlder(agent.vm.name, { guestSide: agent.vm.guestAddress, brokerHost, range, resolver: nameServer });
  using conversation = (await Conversation.open(agent.guest.namespace, shop, echoPort))!;
  assert.equal(await conversation.say('hello'), 'answered', 'every public address');
  const isReached = (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect({ host: agent.vm.guestAddress, port: guestPorts[0]!, timeout: 3000 });
      for (const [event, answer] of [
        ['connect', true],
        ['error', false],
        ['timeout', false],
      ] as const)
        socket.once(event, () => resolve(answer) ?? socket.destroy());
    });
  assert.equal(await isReached(), true);
  // A control plane that finds it.
  const next = createHostNetwork(options);
  network.stop();
  await next.start();
  try {
    await next.setBandwidth(1, 50);
    await next.setBandwidth(1, 50);
    assert.deepEqual(await reached(agent.guest, [tcp(other, 80)]), [], 'nothing until its rules are put on it');
    await next.setEgress(1, list('shop.example'));
    assert.equal(await conversation.say('hello'), 'closed');
    assert.deepEqual(await found(agent, 'shop.example', 'other.example'), [shop, 'NXDOMAIN']);
    const targets = [broker, tcp(shop, 80), tcp(other, 80), tcp('10.9.9.9', 80)];
    assert.deepEqual(await reached(agent.guest, targets), [broker, tcp(shop, 80)].map(words));
    const { refused } = await next.readRefused(1);
    assert.ok(refused.map(wordsOf).includes(`tcp ${other} 80`));
    assert.equal(await isReached(), true);
    assert.ok((await next.egressBytes(1)) > 0, 'what was counted before is kept');
  } finally {
    next.stop();
    await network.start();
  }
});

test('an older machine takes rules first and bandwidth then', async () => {
  await using agent = await agentWith(1, open);
  const { brokerHost } = network;
  await makeOlder(agent.vm.name, { guestSide: agent.vm.guestAddress, brokerHost, range, resolver: nameServer });
  const next = createHostNetwork(options);
  network.stop();
  await next.start();
  try {
    await next.setEgress(1, open);
    await next.setBandwidth(1, 50);
    const targets = [broker, tcp(other, 80), tcp(other, 25), tcp('10.9.9.9', 80)];
    assert.deepEqual(await reached(agent.guest, targets), [broker, tcp(other, 80)].map(words));
    assert.deepEqual(await found(agent, 'other.example'), [other]);
  } finally {
    next.stop();
    await network.start();
  }
});
