/**
 * A guest reaches its broker, its name server and public addresses. It does not reach the host, at any address or port,
 * another agent, of this Lodge or another, or private or metadata addresses, over IPv4 or IPv6. Every place that must not
 * answer has a listener that would: with the protections taken away, all answer.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { enterPrivateHost } from '../../packages/vm/src/qemu/network/testing/private-host.ts';
import { type Agent, type StubAgent, guestPorts, openHost, openNamespace, startAgent, tapOwner } from './agent.ts';
import { all, answers, each, forbidden, reached, tcp, udp, words } from './places.ts';
import { type Prober, askFrom } from './prober.ts';
import { inNamespace, ip } from './shell.ts';
import * as at from './world.ts';

enterPrivateHost(import.meta.filename);

let world: at.World;
let neighbour: StubAgent;
let foreigner: StubAgent;

before(async () => {
  world = await at.buildWorld();
  neighbour = await startAgent(world, world.a, 2);
  foreigner = await startAgent(world, world.b, 0);
});

const places = (agent: Agent) => forbidden(agent, { a: world.a, b: world.b, neighbour, foreigner });

test('a guest reaches its broker, its name server and public addresses, and is known by its address', async () => {
  await using agent = await startAgent(world, world.a, 1);
  assert.deepEqual(
    await answers(
      agent.guest,
      tcp('10.0.2.2', at.brokerPort),
      udp('10.0.2.2', 53),
      tcp('10.0.2.2', 53),
      tcp(at.publicAddress, 80),
      udp(at.publicAddress, at.udpPort),
    ),
    [
      `broker at ${world.a.brokerHost}:${at.brokerPort} to ${agent.vm.guestAddress}`,
      `internet at ${at.resolver}:53 to 5.9.10.2`,
      `internet at ${at.resolver}:53 to 5.9.10.2`,
      `internet at ${at.publicAddress}:80 to 5.9.10.2`,
      `internet at ${at.publicAddress}:${at.udpPort} to 5.9.10.2`,
    ],
  );
});

test('a name server with a private address serves names at the address that stands for it, and nothing else', async () => {
  const direct = each([at.privateResolver], [53, 80]);
  assert.deepEqual(await answers(foreigner.guest, udp('10.0.2.2', 53), tcp('10.0.2.2', 53), ...direct), [
    `internet at ${at.privateResolver}:53 to 192.168.77.2`,
    `internet at ${at.privateResolver}:53 to 192.168.77.2`,
    null,
    null,
  ]);
});

test('a guest reaches nothing else: no address of the host, old or new, no agent, nothing private, no IPv6', async () => {
  await using agent = await startAgent(world, world.a, 1);
  await world.addLateAddresses();
  const heard = world.heard.length;
  assert.deepEqual(await reached(agent.guest, all(places(agent))), []);
  assert.deepEqual(world.heard.slice(heard), []);
  assert.equal((await answers(agent.guest, tcp('10.0.2.2', at.brokerPort))).filter(Boolean).length, 1);
});

test('every one of these places answers when the protections are taken away', async () => {
  await using agent = await startAgent(world, world.a, 1);
  await using _ = await openHost(world);
  await openNamespace(world.a, agent);
  await openNamespace(world.a, neighbour);
  await openNamespace(world.b, foreigner);
  const targets = all(places(agent));
  assert.deepEqual(await reached(agent.guest, targets), targets.map(words));
});

test('the host holds by itself when the namespace lets everything through', async () => {
  await using agent = await startAgent(world, world.a, 1);
  await openNamespace(world.a, agent);
  const guarded = places(agent);
  assert.deepEqual(await reached(agent.guest, all(guarded)), guarded.namespaceOnly.map(words));
});

test('the namespace holds by itself when the host lets everything through, but for public addresses of the host', async () => {
  await using agent = await startAgent(world, world.a, 1);
  await using _ = await openHost(world);
  const guarded = places(agent);
  assert.deepEqual(await reached(agent.guest, all(guarded)), guarded.hostOnly.map(words));
});

test('a guest that takes a second address reaches nothing from it', async () => {
  await using agent = await startAgent(world, world.a, 1);
  await ip(agent.guest.namespace, 'address add 10.0.2.16/24 dev eth0');
  const from = { from: '10.0.2.16' };
  const targets = [
    { ...tcp('10.0.2.2', at.brokerPort), ...from },
    { ...tcp(at.publicAddress, 80), ...from },
  ];
  assert.deepEqual(await reached(agent.guest, targets), []);
  await openNamespace(world.a, agent);
  assert.deepEqual(await reached(agent.guest, targets), targets.map(words));
});

test('an emulator that was taken over reaches nothing from its namespace', async () => {
  await using agent = await startAgent(world, world.a, 1);
  const targets = [
    tcp(world.a.brokerHost, at.brokerPort),
    ...each([at.publicAddress, '10.9.9.9', '192.168.77.2'], [80]),
    tcp(neighbour.vm.guestAddress, 8080),
    tcp('10.0.2.15', 8080),
    // UDP needs no answer to carry data out.
    udp(at.publicAddress, at.udpPort),
  ];
  const fromEmulator: Prober = { ask: (targets) => askFrom(agent.vm.name, targets, { uid: tapOwner }) };
  const heard = world.heard.length;
  assert.deepEqual(await reached(fromEmulator, targets), []);
  assert.deepEqual(world.heard.slice(heard), []);
  await using _ = await openHost(world);
  await openNamespace(world.a, agent);
  await openNamespace(world.a, neighbour);
  assert.deepEqual(await reached(fromEmulator, targets), targets.map(words));
});

test('only root on the host reaches a guest, which sees it at 10.0.2.2', async () => {
  await using agent = await startAgent(world, world.a, 1);
  const targets = each([agent.vm.guestAddress], guestPorts);
  const outcomes = await askFrom(null, targets);
  assert.deepEqual(
    outcomes.map(({ answer }) => answer),
    guestPorts.map((port) => `guest of a-1 at 10.0.2.15:${port} to 10.0.2.2`),
  );
  const asUser = () => askFrom(null, targets, { uid: 65534 });
  assert.deepEqual(
    (await asUser()).map(({ answer }) => answer),
    [null, null],
  );
  await using _ = await openHost(world);
  assert.ok((await asUser()).every(({ answer }) => answer !== null));
});

test('nobody outside the host reaches a guest or the broker', async () => {
  await using agent = await startAgent(world, world.a, 1);
  await openNamespace(world.a, agent);
  const targets = [...each([agent.vm.guestAddress], guestPorts), tcp(world.a.brokerHost, at.brokerPort)];
  const outside = async () => (await askFrom('internet', targets)).map(({ answer }) => answer !== null);
  assert.deepEqual(await outside(), [false, false, false]);
  await using _ = await openHost(world);
  assert.deepEqual(await outside(), [true, true, true]);
});

test('nobody outside the host borrows a guest’s address to speak to it', async () => {
  const borrowed = '10.201.0.6';
  await ip('internet', `address add ${borrowed}/32 dev lo`);
  const heard = async (): Promise<string[]> => {
    const before = world.heard.length;
    await askFrom('internet', [{ ...udp('192.168.77.2', at.udpPort), from: borrowed }]);
    return world.heard.slice(before);
  };
  assert.deepEqual(await heard(), []);
  await using _ = await openHost(world);
  assert.deepEqual(await heard(), ['host: probe']);
});

test('a guest whose broker has another port reaches that one, and loses it with its namespace', async () => {
  await using agent = await startAgent(world, world.a, 1, { brokerPort: at.otherBrokerPort });
  const broker = tcp('10.0.2.2', at.brokerPort);
  assert.deepEqual(await answers(agent.guest, broker), [
    `broker at ${world.a.brokerHost}:${at.otherBrokerPort} to ${agent.vm.guestAddress}`,
  ]);
  await world.a.start();
  assert.equal((await reached(agent.guest, [broker])).length, 1, 'a second start keeps the exception');
});

test('a connection to a slot that is gone fails at once', async () => {
  const gone = world.a.createNamespace(9, { tapOwner: 65534, brokerPort: at.brokerPort });
  const { guestAddress } = await gone;
  await world.a.removeNamespace(9);
  const started = performance.now();
  const [outcome] = await askFrom(null, [tcp(guestAddress, 8080)], { timeoutMs: 120_000 });
  assert.equal(outcome?.answer, null);
  assert.ok(performance.now() - started < 60_000, 'refused, not waited for');
});

test('a guest learns that an uplink takes smaller packets than its own link', async () => {
  await using agent = await startAgent(world, world.a, 1);
  await ip(null, 'link set wan mtu 1400');
  // Linux takes the word of it for a socket that is still there, and a busy host's comes late.
  const send = `const socket = require('node:dgram').createSocket('udp4');
    socket.send(Buffer.alloc(1450), ${at.udpPort}, '${at.publicAddress}', () => setTimeout(() => socket.close(), 500))`;
  let route = '';
  for (let tries = 0; tries < 10 && !route.includes('mtu 1400'); tries += 1) {
    await inNamespace(agent.guest.namespace, [process.execPath, '--eval', send]);
    route = await inNamespace(agent.guest.namespace, ['ip', 'route', 'get', at.publicAddress]);
  }
  await ip(null, 'link set wan mtu 1500');
  assert.match(route, /mtu 1400/);
});

test('bytes sent to the internet are counted, bytes to the broker are not', async () => {
  await using agent = await startAgent(world, world.a, 1);
  await answers(agent.guest, tcp('10.0.2.2', at.brokerPort));
  assert.equal(await world.a.egressBytes(1), 0);
  await answers(agent.guest, tcp(at.publicAddress, 80));
  const bytes = await world.a.egressBytes(1);
  assert.ok(bytes >= 160 && bytes < 1000, `${bytes} bytes for one short connection`);
});
