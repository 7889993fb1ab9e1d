/**
 * Repeats reachability.test.ts with real virtual machines: Node inside a guest under QEMU tries, as root, every place that
 * no guest may reach. Shows too that a guest's daemon answers root on the host and nobody else.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Template, Vm, VmDriver } from '@lodge/ports';
import { dialTo, guestClient, guestdPort } from '@lodge/guest';
import { createImageBuilder } from '@lodge/images';
import { createQemuDriver, openCgroups } from '@lodge/vm';
import { sharedTemplate } from '../../packages/vm/conformance/qemu-host.ts';
import { enterPrivateHost } from '../../packages/vm/src/qemu/network/testing/private-host.ts';
import {
  type Agent,
  type StubAgent,
  addressesOf,
  guestLines,
  listenInNamespace,
  openHost,
  openNamespace,
  startAgent,
} from './agent.ts';
import { all, answers, forbidden, reached, tcp, udp, words } from './places.ts';
import { type Prober, askFrom, isReached, probe } from './prober.ts';
import { linkAddress } from './shell.ts';
import * as at from './world.ts';

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const never = new AbortController().signal;
const cacheDir = process.env['LODGE_CACHE_DIR'] ?? '/var/cache/lodge';
// Outside this builds the image if there is none, which needs the internet; inside it is found.
await createImageBuilder({ cacheDir, log: quiet }).ensure('base', () => {}, never);
enterPrivateHost(import.meta.filename);

const instance = `s${randomInt(36 ** 4).toString(36)}`;
const machine = { vcpus: 1, memoryMib: 2048, diskGib: 10 };
let world: at.World;
let dataDir: string;
let driver: VmDriver;
let template: Template;
let neighbour: StubAgent;
let foreigner: StubAgent;
/** Two agents' VMs, clones of one template. */
let one: Agent;
let other: Vm;

before(async () => {
  world = await at.buildWorld();
  dataDir = await mkdtemp(join(tmpdir(), 'lodge-security-'));
  driver = createQemuDriver({
    dataDir,
    cacheDir,
    instance,
    // Its keeper looks every few seconds, and would put back what the last test takes away, in the midst of it.
    network: { ...world.a, heal: () => Promise.resolve(false) },
    brokerPort: at.brokerPort,
    accelerator: 'auto',
    diskFloorMib: 512,
    uidBase: 2_100_000_000,
    unboundMemory: 'allow',
    log: quiet,
  });
  await driver.start();
  template = await driver.buildTemplate({ ...(await sharedTemplate()), brokerPort: at.otherBrokerPort }, never);
  one = await agentOf(await createVm('one'));
  other = await createVm('other');
  // Slots far from those the driver hands out.
  neighbour = await startAgent(world, world.a, 1000);
  foreigner = await startAgent(world, world.b, 0);
});

after(async () => {
  for (const agentId of ['one', 'other']) await driver?.remove(agentId, { keepDisk: false });
  await driver?.stop();
  await (await openCgroups(instance)).close();
  await rm(dataDir, { recursive: true, force: true });
});

const createVm = (agentId: string): Promise<Vm> =>
  driver.create({ agentId, executionId: `${agentId}-1`, machine, template, from: 'clone' }, never);

const guestOf = ({ agentId, address }: Vm) =>
  guestClient({ dial: dialTo(address), credential: () => driver.guestCredential(agentId, address) });

async function runInside(vm: Vm, argv: readonly string[], env = {}): Promise<string> {
  const result = await guestOf(vm).exec({ argv, env, user: 'root', timeoutMs: 240_000 });
  assert.equal(result.exitCode, 0, `${argv[0]}: ${result.stderr}`);
  return result.stdout;
}

const proberIn = (vm: Vm): Prober => ({
  ask: async (targets) => {
    const { args, env } = await probe(targets, 15_000);
    return JSON.parse(await runInside(vm, ['node', ...args], env)) as Awaited<ReturnType<Prober['ask']>>;
  },
});

async function agentOf(own: Vm): Promise<Agent> {
  const { address } = own;
  const slot = (await world.a.slots()).find((slot) => address === `10.201.${slot >> 6}.${(slot & 63) * 4 + 2}`);
  const vm = { name: `a-${slot}`, guestAddress: address };
  const { tap6, ...addresses } = addressesOf('a', address);
  const mac = (await runInside(own, ['cat', '/sys/class/net/eth0/address'])).trim();
  // The image has IPv6 switched off; the guest's root user switches it on.
  await runInside(own, ['sh', '-c', 'echo 0 | tee /proc/sys/net/ipv6/conf/*/disable_ipv6']);
  for (const line of guestLines(addresses.guest6, tap6, await linkAddress(vm.name, 'tap0'))) {
    await runInside(own, ['ip', ...line.split(' ')]);
  }
  await listenInNamespace(world, vm);
  return { vm, ...addresses, guest: { mac, ...proberIn(own) } };
}

const places = () => forbidden(one, { a: world.a, b: world.b, neighbour, foreigner });

test('a virtual machine reaches its broker, its name server and public addresses', async () => {
  assert.deepEqual(
    await answers(one.guest, tcp('10.0.2.2', at.brokerPort), udp('10.0.2.2', 53), tcp(at.publicAddress, 80)),
    [
      `broker at ${world.a.brokerHost}:${at.brokerPort} to ${one.vm.guestAddress}`,
      `internet at ${at.resolver}:53 to 5.9.10.2`,
      `internet at ${at.publicAddress}:80 to 5.9.10.2`,
    ],
  );
});

test('a virtual machine reaches nothing else', async () => {
  await world.addLateAddresses();
  const heard = world.heard.length;
  assert.deepEqual(await reached(one.guest, [...all(places()), tcp(other.address, guestdPort)]), []);
  assert.deepEqual(world.heard.slice(heard), []);
});

test('the daemon in a guest answers root on the host, and neither other users nor processes in the guest', async () => {
  assert.equal((await guestOf(other).health()).protocol, 1);
  const asUser = await askFrom(null, [tcp(other.address, guestdPort)], { uid: 65534 });
  assert.ok(!asUser.some(isReached));
  const ask = `
    const urls = ['http://127.0.0.1:${guestdPort}/v1/health', 'http://10.0.2.15:${guestdPort}/v1/health'];
    console.log(JSON.stringify(await Promise.all(urls.map((url) => fetch(url).then((reply) => reply.status, () => 'refused')))));`;
  const inside = JSON.parse(await runInside(other, ['node', '--input-type=module', '--eval', ask])) as unknown[];
  assert.ok(
    inside.every((reply) => reply === 'refused' || reply === 403),
    JSON.stringify(inside),
  );
});

test('every forbidden place answers a virtual machine when the protections are taken away', async () => {
  await using _ = await openHost(world);
  for (const agent of [one, neighbour]) await openNamespace(world.a, agent);
  await openNamespace(world.b, foreigner);
  const targets = all(places());
  assert.deepEqual(await reached(one.guest, targets), targets.map(words));
});
