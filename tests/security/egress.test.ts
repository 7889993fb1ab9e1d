/**
 * An agent's egress rules, tried by a guest that has root: an allow list reaches what it names and nothing else, whatever the guest asks of whom, and whatever names are
 * made to say; rules that change hold for what is open; what is refused is told.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type HostNetwork, createHostNetwork } from '../../packages/vm/src/qemu/network/index.ts';
import { enterPrivateHost } from '../../packages/vm/src/qemu/network/testing/private-host.ts';
import { startAgent } from './agent.ts';
import { Conversation } from './conversation.ts';
import {
  a,
  buildEgressWorld,
  echoPort,
  found,
  inBlock,
  list,
  mailPorts,
  nameServer,
  none,
  open,
  options,
  other,
  shop,
  shopMoved,
  wild,
} from './egress-world.ts';
import type { EgressWorld } from './egress-world.ts';
import { lookUp } from './look-up.ts';
import type { Names } from './names.ts';
import { answers, each, reached, tcp, udp, words } from './places.ts';
import { askFrom } from './prober.ts';
import { nft } from './shell.ts';
import * as at from './world.ts';

enterPrivateHost(import.meta.filename);

let world: at.World;
let network: HostNetwork;
let names: Names;
let asked: readonly string[];
let agentWith: EgressWorld['agentWith'];
let refusals: EgressWorld['refusals'];

before(async () => {
  ({ world, network, names, agentWith, refusals } = await buildEgressWorld());
  ({ asked } = names);
});

const broker = tcp('10.0.2.2', at.brokerPort);

test('an allow list reaches the names and blocks that it names, and its broker', async () => {
  await using agent = await agentWith(1, list('shop.example', '*.wild.example', '23.2.0.0/24'));
  assert.deepEqual(await reached(agent.guest, [tcp(shop, 80), tcp(wild, 80)]), [], 'nobody looked them up yet');
  assert.deepEqual(await found(agent, 'shop.example', 'SHOP.Example', 'deep.wild.example'), [shop, shop, wild]);
  const targets = [
    broker,
    tcp(shop, 80),
    udp(shop, at.udpPort),
    tcp(wild, 80),
    tcp(inBlock, 80),
    udp(inBlock, at.udpPort),
  ];
  assert.deepEqual(await reached(agent.guest, targets), targets.map(words));
});

test('an allow list reaches nothing else: by address, by another name, by another resolver, by IPv6', async () => {
  await using agent = await agentWith(1, list('shop.example', '*.wild.example', '23.2.0.0/24'));
  const before = asked.length;
  const others = [
    'other.example',
    'wild.example',
    'shop.example.other.example',
    'xshop.example',
    'xwild.example',
    'example',
    'shop.exampl',
  ];
  assert.deepEqual(
    await found(agent, ...others),
    others.map(() => 'NXDOMAIN'),
  );
  assert.deepEqual(asked.slice(before), [], 'names that are not allowed are asked of nobody');
  await found(agent, 'shop.example');
  const heard = world.heard.length;
  const targets = [
    ...each([other, at.publicAddress, '23.1.1.2', '23.2.1.5', at.resolver, nameServer], [53, 80]),
    ...each([at.publicAddress, other], [at.udpPort], udp),
    ...each(at.privateAddresses, [80]),
    ...each(at.hostAddresses, at.hostPorts),
    ...each(at.addresses6, [80]),
    tcp(network.brokerHost, at.brokerPort),
    ...each([network.brokerHost], [at.namesPort]),
  ];
  assert.deepEqual(await reached(agent.guest, targets), []);
  assert.deepEqual(world.heard.slice(heard), []);
  const elsewhereAsked = (['udp', 'tcp'] as const).map((over) => ({ name: 'shop.example', server: nameServer, over }));
  assert.deepEqual(await lookUp(agent.guest.namespace, ...elsewhereAsked), [null, null]);
  assert.deepEqual(await reached(agent.guest, [tcp(shop, 80)]), [`tcp ${shop} 80`]);
});

test('every one of these answers an agent whose egress is public', async () => {
  await using agent = await agentWith(1, open);
  const targets = [...each([other, at.publicAddress, inBlock], [80]), udp(other, at.udpPort), tcp(nameServer, 80)];
  assert.deepEqual(await reached(agent.guest, targets), targets.map(words));
  assert.deepEqual(await found(agent, 'other.example', 'wild.example'), [other, other]);
  assert.deepEqual(await lookUp(agent.guest.namespace, { name: 'shop.example', server: nameServer }), [
    { rcode: 'NOERROR', addresses: [shop], ttl: 600 },
  ]);
});

test('with none an agent reaches its broker alone', async () => {
  await using agent = await agentWith(1, none);
  const before = asked.length;
  assert.deepEqual(await found(agent, 'shop.example'), ['NXDOMAIN']);
  assert.deepEqual(asked.slice(before), []);
  const targets = [...each([shop, at.publicAddress, nameServer], [53, 80]), udp(shop, at.udpPort)];
  assert.deepEqual(await reached(agent.guest, [broker, ...targets]), [words(broker)]);
});

test('an allowed name that says a private address opens nothing and is told', async () => {
  await using agent = await agentWith(1, list('*.example', 'rebound.example', '10.0.0.0/8', '169.254.169.254'));
  assert.deepEqual(await found(agent, 'rebound.example', 'half-rebound.example'), ['5.9.10.2', shop]);
  names.add({ 'rebound.example': [a('10.9.9.9')] });
  await sleep(2500);
  const all = each([...at.privateAddresses, ...at.hostAddresses, '168.63.129.16', '127.0.0.1'], [22, 80]);
  assert.deepEqual(await reached(agent.guest, all), [], 'blocks of the rules open none of them either');
  names.add({ 'late.example': [a('10.9.9.9')] });
  await sleep(200);
  assert.deepEqual(await found(agent, 'late.example'), ['NOERROR']);
  assert.ok((await refusals(1)).includes('dns late.example'));
});

test('names are found over TCP too, aliases are followed for the name that was asked, and there is no IPv6', async () => {
  await using agent = await agentWith(1, list('*.example'));
  assert.deepEqual(
    await lookUp(
      agent.guest.namespace,
      { name: 'shop.example', over: 'tcp' },
      { name: 'alias.example' },
      { name: 'away.elsewhere.test' },
      { name: 'six.example', type: 'AAAA' },
      { name: 'shop.example', type: 'TXT' },
    ).then((results) => results.map((result) => result && [result.rcode, ...result.addresses])),
    [['NOERROR', shop], ['NOERROR', shopMoved], ['NXDOMAIN'], ['NOERROR'], ['NOERROR']],
  );
  assert.deepEqual(await reached(agent.guest, [tcp(shopMoved, 80)]), [`tcp ${shopMoved} 80`]);
});

test('a pin ends with its record: what is open goes on, what is new is refused until the name is asked again', async () => {
  await using agent = await agentWith(1, list('short.example'));
  const { namespace } = agent.guest;
  await found(agent, 'short.example');
  using conversation = await Conversation.open(namespace, shopMoved, echoPort);
  assert.ok(conversation);
  await sleep(5000);
  assert.equal(await Conversation.open(namespace, shopMoved, echoPort), null);
  assert.equal(await conversation.say('still there'), 'answered');
  await found(agent, 'short.example');
  using again = await Conversation.open(namespace, shopMoved, echoPort);
  assert.ok(again);
});

test('a change of rules cuts what they no longer allow, and nothing else', async () => {
  await using agent = await agentWith(1, list('shop.example', '*.wild.example', '23.2.0.0/24'));
  const { namespace } = agent.guest;
  await found(agent, 'shop.example', 'deep.wild.example');
  using toShop = (await Conversation.open(namespace, shop, echoPort))!;
  using toWild = (await Conversation.open(namespace, wild, echoPort))!;
  using toBlock = (await Conversation.open(namespace, inBlock, echoPort))!;
  const say = (): Promise<string[]> => Promise.all([toShop, toWild, toBlock].map((one) => one.say('hello')));
  assert.deepEqual(await say(), ['answered', 'answered', 'answered']);
  await network.setEgress(1, list('other.example', '*.wild.example'));
  assert.deepEqual(await say(), ['closed', 'answered', 'closed']);
  assert.deepEqual(await reached(agent.guest, [tcp(shop, 80), tcp(inBlock, 80), tcp(wild, 80)]), [`tcp ${wild} 80`]);
  assert.deepEqual(await found(agent, 'shop.example', 'other.example'), ['NXDOMAIN', other]);
  await network.setEgress(1, none);
  assert.equal(await toWild.say('hello'), 'closed');
  await network.setEgress(1, open);
  assert.deepEqual(await reached(agent.guest, [tcp(other, 80)]), [`tcp ${other} 80`]);
});

test('a public agent that gets an allow list loses what it has open', async () => {
  await using agent = await agentWith(1, open);
  using conversation = (await Conversation.open(agent.guest.namespace, shop, echoPort))!;
  assert.equal(await conversation.say('hello'), 'answered');
  await network.setEgress(1, list('shop.example'));
  assert.equal(await conversation.say('hello'), 'closed');
});

test('rules outlive the control plane: while it is away names are not found, and what was pinned holds', async () => {
  await using agent = await agentWith(1, list('shop.example'));
  const { namespace } = agent.guest;
  await found(agent, 'shop.example');
  using conversation = (await Conversation.open(namespace, shop, echoPort))!;
  network.stop();
  assert.deepEqual(await found(agent, 'shop.example'), [null]);
  assert.deepEqual(await reached(agent.guest, [tcp(shop, 80), tcp(other, 80)]), [`tcp ${shop} 80`]);
  const next = createHostNetwork(options);
  await next.start();
  try {
    assert.deepEqual(await found(agent, 'shop.example'), [null], 'not before it knows the rules');
    await next.setEgress(1, list('shop.example', 'other.example'));
    assert.equal(await conversation.say('hello'), 'answered', 'as it was opened before');
    assert.deepEqual(await found(agent, 'shop.example', 'other.example'), [shop, other]);
  } finally {
    next.stop();
    await network.start();
  }
});

test('the next guest of a slot has nothing of the last one’s', async () => {
  {
    await using agent = await agentWith(1, list('shop.example'));
    await found(agent, 'shop.example', 'other.example');
  }
  await using agent = await agentWith(1, list('other.example'));
  assert.deepEqual(await refusals(1), []);
  assert.deepEqual(await reached(agent.guest, [tcp(shop, 80)]), []);
  assert.deepEqual(await found(agent, 'shop.example'), ['NXDOMAIN']);
});

test('a refused TCP connection fails at once', async () => {
  await using agent = await agentWith(1, none);
  const [outcome] = await agent.guest.ask([tcp(other, 80)]);
  assert.equal(outcome?.failure, 'ECONNREFUSED');
});

test('what a guest can carry out in names is bounded, however many it asks', { timeout: 120_000 }, async () => {
  await using agent = await agentWith(1, list('*.wild.example'));
  const [before, started] = [asked.length, performance.now()];
  const { namespace } = agent.guest;
  for (let round = 0; round < 20; round++) {
    await lookUp(namespace, ...Array.from({ length: 8 }, (_, i) => ({ name: `secret-${round}-${i}.wild.example` })));
  }
  const carried = asked.slice(before).filter((name) => name.startsWith('secret-')).length;
  // 60 at once and one a second.
  const most = 60 + (performance.now() - started) / 1000 + 5;
  assert.ok(carried >= 40 && carried <= most && most < 150, `${carried} of 160 names, at most ${most}`);
});

test('where root looks names up, no process of the host comes', async () => {
  const [outcome] = await askFrom(null, [tcp(network.brokerHost, at.namesPort)], { uid: 65_534 });
  assert.equal(outcome!.failure, 'ECONNREFUSED');
});

test('packets that are no questions are not answered, and do no harm', async () => {
  await using agent = await agentWith(1, list('shop.example'));
  const header = (flags: string, counts: string): string => `0001${flags}${counts}`;
  const one = '0001000000000000';
  const name = '0473686f70076578616d706c65';
  const raws = [
    '',
    '00',
    header('0100', one),
    header('8100', one) + `${name}0000010001`,
    header('0100', '0002000000000000') + `${name}0000010001`.repeat(2),
    header('0100', '0001000100000000') + `${name}0000010001`,
    `${header('0100', one)}c00c00010001`,
    `${header('0100', one)}01c00c00010001`,
    header('0100', one) + 'ff'.repeat(300),
    header('0100', one) + '3f'.repeat(480),
    header('2800', one) + `${name}0000010001`,
    header('0100', one) + `${name}0000010003`,
  ];
  const lookups = raws.flatMap((raw) => (['udp', 'tcp'] as const).map((over) => ({ name: 'shop.example', raw, over })));
  assert.deepEqual(
    await lookUp(agent.guest.namespace, ...lookups),
    lookups.map(() => null),
  );
  const odd = ['shop.example\u0000.other', 'shöp.example', `${'a'.repeat(63)}.shop.example`, '.', 'shop..example'];
  for (const result of await found(agent, ...odd)) assert.ok(result === null || result === 'NXDOMAIN', String(result));
  assert.deepEqual(await found(agent, 'shop.example'), [shop]);
});

test('the firewall of the host alone lets a guest with an allow list out no further than a public one', async () => {
  await using agent = await agentWith(1, none);
  await nft(
    agent.vm.name,
    'flush chain inet lodge egress\nadd rule inet lodge egress accept\nflush chain inet lodge answers\nadd rule inet lodge answers accept\n',
  );
  assert.deepEqual(await reached(agent.guest, [tcp('10.9.9.9', 80), tcp(shop, 25)]), []);
  assert.equal((await answers(agent.guest, tcp(shop, 80))).filter(Boolean).length, 1);
});

test('no agent reaches the ports of mail servers, whatever its rules, unless the operator opens them', async () => {
  const targets = each([other, inBlock], mailPorts);
  for (const rules of [open, list('23.0.0.0/8')]) {
    await using agent = await agentWith(1, rules);
    assert.deepEqual(await reached(agent.guest, [...targets, tcp(other, 80)]), [`tcp ${other} 80`]);
    assert.deepEqual(await refusals(1), targets.map(words).toSorted());
  }
  const openMail = createHostNetwork({ ...options, instance: 'm', range: '10.204.0.0/24', mail: 'open' });
  await openMail.start();
  {
    await using agent = await startAgent(world, openMail, 1);
    assert.deepEqual(await reached(agent.guest, targets), targets.map(words));
  }
  await openMail.teardown();
});

test('no agent reaches what the operator closed, by the namespace and by the host, and no name opens it', async () => {
  const blocked = ['23.1.1.4/32', '23.2.0.0/16', '23.2.0.0/24'];
  const closed = createHostNetwork({ ...options, instance: 'm', range: '10.204.0.0/24', blocked });
  await closed.start();
  const targets = each([other, inBlock, shop], [80]);
  for (const rules of [open, list('other.example', '23.0.0.0/8')]) {
    await using agent = await startAgent(world, closed, 1, { egress: rules });
    if (rules !== open) assert.deepEqual(await found(agent, 'other.example'), ['NOERROR']);
    assert.deepEqual(await reached(agent.guest, targets), [`tcp ${shop} 80`]);
    await nft(agent.vm.name, 'insert rule inet lodge from_guest accept');
    assert.deepEqual(await reached(agent.guest, targets), [`tcp ${shop} 80`], 'the host by itself');
  }
  await closed.teardown();
});
