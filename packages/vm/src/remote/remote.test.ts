/** A hostile control plane at the machine host's channel: it is refused by name, and nothing is touched. */
import assert from 'node:assert/strict';
import { duplexPair } from 'node:stream';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { dialTo } from '@lodge/guest';
import { publicEgress } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import type { TemplateBuild, VmDriver } from '@lodge/ports';
import { createFakeDriver, FakeHost } from '../fake/index.ts';
import { Channel, createRemoteMachines, KnownImages, serveMachines } from './index.ts';
import { maxBytesUnderWay, maxCallsUnderWay } from './serve.ts';
import { agentId, create, data, executionId, image, machine, refused, save } from './testing.ts';

const never = new AbortController().signal;

/** The machine host's side over a driver that records its calls, and the raw other end of its channel. */
function openHost(driver: Partial<VmDriver> = {}) {
  const asked: unknown[][] = [];
  const warned: string[] = [];
  const noting = new Proxy(driver, {
    get(target, name: keyof VmDriver) {
      if (name === 'onExit') return target.onExit ?? (() => () => undefined);
      return (...args: unknown[]) => {
        asked.push([name, ...args]);
        const own = target[name] as ((...args: unknown[]) => unknown) | undefined;
        return own ? own(...args) : Promise.resolve(null);
      };
    },
  }) as VmDriver;
  const builder = {
    idOf: async (runtime: string) => (asked.push(['idOf', runtime]), 'image'),
    find: async (runtime: string) => (asked.push(['find', runtime]), image),
    ensure: async (runtime: string) => (asked.push(['ensure', runtime]), image),
  };
  const log = {
    debug() {},
    info() {},
    warn: ({ why }: { why?: string }) => void warned.push(String(why)),
    error() {},
  };
  const [there, here] = duplexPair();
  const channel = new Channel(there, { peer: 'controlPlane' });
  serveMachines(channel, { driver: noting, images: new KnownImages(builder), log });
  channel.open();
  return { asked, warned, channel, here };
}

function frame(body: string | Buffer): Buffer {
  const bytes = Buffer.from(body);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

const callOf = (id: number, method: unknown, args: unknown): Buffer =>
  frame(JSON.stringify({ kind: 'call', id, method, args }));

/** Replies as they come, by their number. */
function repliesOf(here: Duplex): Map<number, { value?: unknown; error?: { message: string } }> {
  const replies = new Map<number, { value?: unknown; error?: { message: string } }>();
  let held = Buffer.alloc(0);
  here.on('data', (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    while (held.length >= 4 && held.length >= 4 + held.readUInt32BE()) {
      const end = 4 + held.readUInt32BE();
      const message = JSON.parse(held.subarray(4, end).toString()) as { kind: string; id: number; value?: unknown };
      if (message.kind === 'reply') replies.set(message.id, message);
      held = held.subarray(end);
    }
  });
  return replies;
}

async function eventually(holds: () => boolean): Promise<void> {
  for (const until = Date.now() + 10_000; !holds(); await sleep(1)) assert.ok(Date.now() < until, 'not within 10 s');
}

test('a call that is not as its method wants it is refused by name, and the driver hears nothing', async () => {
  const { asked, warned, here } = openHost();
  const replies = repliesOf(here);
  for (const [id, [method, args]] of refused.entries()) here.write(callOf(id, method, args));
  await eventually(() => replies.size === refused.length);
  for (const [id, [method, args, why]] of refused.entries()) {
    const shown = JSON.stringify([method, args]).slice(0, 200);
    assert.match(replies.get(id)?.error?.message ?? 'taken', why, shown);
  }
  assert.deepEqual(asked, []);
  assert.equal(warned.length, refused.length - 1, 'each is in the log but the image that is not known');
  assert.ok(!warned.some((line) => /etc|shadow|flush/.test(line)), 'which repeats nothing of them');
});

test('what a call may hold reaches the driver as it is', async () => {
  const { asked, here } = openHost();
  const replies = repliesOf(here);
  const rules = { mode: 'allowlist', allow: ['*.example.com', '9.9.9.0/24'] };
  here.write(callOf(1, 'create', { ...create, egress: rules }));
  here.write(callOf(2, 'setEgress', { agentId, rules: publicEgress }));
  here.write(callOf(3, 'carryOver', { agentId, executionId, data }));
  here.write(callOf(4, 'create', { ...create, from: { saved: 's1', memory: true }, still: true }));
  here.write(callOf(5, 'save', { ...save, listed: '/workspace', isHasty: true }));
  here.write(callOf(6, 'collectSaved', { keep: ['s1'], savedBefore: 1000 }));
  await eventually(() => replies.size === 6);
  const template = { id: 't1', imageId: '', facts: {} };
  const signalFree = asked.map((call) => call.filter((each) => !(each instanceof AbortSignal)));
  assert.deepEqual(signalFree, [
    ['create', { agentId, executionId, machine, from: 'clone', template, egress: rules }],
    ['setEgress', agentId, publicEgress],
    ['carryOver', agentId, executionId, data],
    ['create', { agentId, executionId, machine, from: { saved: 's1', memory: true }, template, still: true }],
    ['save', agentId, executionId, { id: 's1', memory: true, facts: {}, listed: '/workspace', isHasty: true }],
    ['collectSaved', new Set(['s1']), new Date(1000)],
  ]);
});

const garbage: readonly (readonly [what: string, bytes: Buffer, why: RegExp])[] = [
  ['no JSON', frame('{'), /no JSON/],
  ['no object', frame('7'), /no known kind/],
  ['another kind', frame('{"kind":"shell"}'), /no known kind/],
  ['a kind of the host', frame('{"kind":"reply","id":1}'), /no known kind/],
  ['no number', frame('{"kind":"call","method":"list","args":{}}'), /no number/],
  ['a negative number', frame('{"kind":"abort","id":-1}'), /no number/],
  ['four gigabytes', Buffer.from([0xff, 0xff, 0xff, 0xff]), /4294967295 bytes, more than/],
  ['deep', frame(`{"kind":${'['.repeat(5000)}${']'.repeat(5000)}}`), /levels/],
  ['many', frame(`{"kind":[${'0,'.repeat(300_000)}0]}`), /elements/],
];

for (const [what, bytes, why] of garbage) {
  test(`a message that is none ends the channel: ${what}`, async () => {
    const { asked, channel, here } = openHost();
    here.on('error', () => undefined).resume();
    here.write(bytes);
    here.write(callOf(1, 'list', {}));
    assert.match((await channel.ended)?.message ?? 'nothing', why);
    assert.deepEqual(asked, []);
  });
}

test('two calls of one number end the channel', async () => {
  const { channel, here } = openHost({ list: () => new Promise(() => undefined) });
  here.resume();
  for (let n = 0; n < 2; n += 1) here.write(callOf(1, 'list', {}));
  assert.match((await channel.ended)?.message ?? 'nothing', /two calls/);
});

test('calls under way are counted, and those beyond the bound are refused', async () => {
  const { asked, here } = openHost({ list: () => new Promise(() => undefined) });
  const replies = repliesOf(here);
  for (let id = 0; id < maxCallsUnderWay + 10; id += 1) here.write(callOf(id, 'list', {}));
  await eventually(() => replies.size === 10);
  assert.equal(asked.length, maxCallsUnderWay);
  for (const { error } of replies.values()) assert.match(error!.message, /too many calls/);
});

test('bytes of calls under way are counted, and given back as a call ends', async () => {
  const ends: (() => void)[] = [];
  const { asked, here } = openHost({
    rest: () => new Promise((resolve) => ends.push(() => resolve({ bytes: 1, diskBytes: 1, ms: 1 }))),
  });
  const replies = repliesOf(here);
  const facts = { long: 'x'.repeat(2 ** 20 - 200) };
  const most = Math.floor(maxBytesUnderWay / 2 ** 20);
  const rest = (id: number): boolean => here.write(callOf(id, 'rest', { agentId, executionId, facts, data: null }));
  for (let id = 0; id < most + 8; id += 1) rest(id);
  await eventually(() => replies.size >= 8);
  assert.equal(asked.length, most);
  for (const { error } of replies.values()) assert.match(error!.message, /too many bytes/);
  here.write(callOf(1000, 'pause', { agentId, executionId }));
  await eventually(() => asked.length === most + 1);
  for (const end of ends.splice(0)) end();
  await eventually(() => replies.size === most + 8 + 1);
  rest(2000);
  await eventually(() => asked.length === most + 2);
});

test('runtimes are counted: the builder keeps what it reads of each', async () => {
  const { asked, here } = openHost();
  const replies = repliesOf(here);
  for (let id = 0; id < 100; id += 1) here.write(callOf(id, 'findImage', { runtime: `r${id}` }));
  here.write(callOf(100, 'findImage', { runtime: 'r0' }));
  await eventually(() => replies.size === 101);
  assert.equal(asked.length, 65, 'one that is known is still found');
  assert.match(replies.get(99)!.error!.message, /too many runtimes/);
});

test('a control plane that asks and never reads is not read either: what waits for it is bounded', async () => {
  const long = 'x'.repeat(64 * 1024);
  const { asked, channel, here } = openHost({ readConsole: async () => long });
  for (let id = 0; id < 5000; id += 1) {
    if (!here.write(callOf(id, 'readConsole', { agentId }))) await sleep(1);
  }
  await sleep(200);
  assert.ok(asked.length < 1500, `${asked.length} calls were served`);
  channel.close();
});

test('when the control plane is gone, what it had under way is given up', async () => {
  let given: AbortSignal | undefined;
  const { asked, here } = openHost({
    create: (_, signal) => {
      given = signal;
      return new Promise(() => undefined);
    },
  });
  here.on('error', () => undefined).write(callOf(1, 'create', create));
  await eventually(() => asked.length === 1);
  here.destroy();
  await eventually(() => given!.aborted);
});

/** Both ends as the product uses them. */
function openBoth(driver: VmDriver) {
  const [there, here] = duplexPair();
  const server = new Channel(there, { peer: 'controlPlane' });
  const client = new Channel(here, { peer: 'machineHost' });
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const builder = { idOf: async () => 'image', find: async () => image, ensure: async () => image };
  serveMachines(server, { driver, images: new KnownImages(builder), log });
  const machines = createRemoteMachines(client, driver);
  server.open();
  client.open();
  return { ...machines, server, client };
}

const build = (prepare: TemplateBuild['prepare']): TemplateBuild => ({
  image,
  variant: 'v',
  brokerPort: 4001,
  prepare,
  progress: () => undefined,
});

test('an error of a preparation comes back as it was thrown, and a driver’s own with its code', async () => {
  const { driver, images } = openBoth(createFakeDriver(new FakeHost()));
  await driver.start();
  await images.find('base');
  class OwnError extends Error {}
  const thrown = new OwnError('told to fail');
  await assert.rejects(
    driver.buildTemplate(
      build(() => Promise.reject(thrown)),
      never,
    ),
    (error) => error === thrown,
  );
  await assert.rejects(driver.pause(agentId, executionId), { name: 'VmError', code: 'gone' });
  await driver.stop();
});

test('a build that is given up ends the preparation under way', async () => {
  const { driver, images } = openBoth(createFakeDriver(new FakeHost()));
  await driver.start();
  await images.find('base');
  const giveUp = new AbortController();
  const begun = Promise.withResolvers<AbortSignal>();
  const prepare: TemplateBuild['prepare'] = (_, signal) => {
    begun.resolve(signal);
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('given up')));
    });
  };
  const building = driver.buildTemplate(build(prepare), giveUp.signal);
  const signal = await begun.promise;
  giveUp.abort();
  await assert.rejects(building, { name: 'VmError', code: 'aborted' });
  await eventually(() => signal.aborted);
  await driver.stop();
});

test('a reason of the caller’s own is what the call rejects with', async () => {
  const { driver } = openBoth(createFakeDriver(new FakeHost()));
  await driver.start();
  const reason = new VmError('superseded', 'another takes its place');
  const request = { agentId, executionId, machine, from: 'clone' as const };
  const template = { id: 't', imageId: 'image', facts: {} };
  const creating = driver.create({ ...request, template }, AbortSignal.abort(reason));
  await assert.rejects(creating, (error) => error === reason);
  await driver.stop();
});

test('long calls and long replies at once keep neither end from reading', async () => {
  const long = 'x'.repeat(64 * 1024);
  const fake = createFakeDriver(new FakeHost());
  const driver: Partial<VmDriver> = {
    brokerHost: fake.brokerHost,
    onExit: () => () => undefined,
    readConsole: async () => long,
    rest: async () => ({ bytes: 1, diskBytes: 1, ms: 1 }),
  };
  const { driver: remote } = openBoth(driver as VmDriver);
  const [facts, calls] = [{ long: long.repeat(4) }, Array.from({ length: 300 })];
  const consoles = calls.map(() => remote.readConsole(agentId));
  const suspended = calls.map(() => remote.rest(agentId, executionId, { facts }, never));
  for (const text of await Promise.all(consoles)) assert.equal(text.length, long.length);
  assert.equal((await Promise.all(suspended)).length, calls.length);
  const tooLong = remote.rest(agentId, executionId, { facts: { long: long.repeat(17) } }, never);
  await assert.rejects(tooLong, { name: 'VmError', message: /more than 1048576/ });
  assert.equal(await remote.readConsole(agentId), long, 'which ended that call alone');
});

test('when the machine host is gone, every call rejects, and those that come after', async () => {
  const fake = createFakeDriver(new FakeHost());
  const { driver, server } = openBoth({
    ...fake,
    list: () => new Promise(() => undefined),
    onExit: () => () => undefined,
  });
  const listing = driver.list();
  await sleep(5);
  server.close();
  await assert.rejects(listing, { name: 'VmError', code: 'aborted' });
  await assert.rejects(driver.inspect(agentId), { name: 'VmError', code: 'aborted' });
});

test('the host’s pace comes with its templates, and with a guest that is to be prepared', async () => {
  const [template, paces] = [{ id: 't', imageId: 'image', facts: {} }, [] as unknown[]];
  const fake: Partial<VmDriver> = {
    onExit: () => () => undefined,
    findTemplate: async () => ({ ...template, pace: 6 }),
    getTemplate: async () => ({ ...template, pace: 2 }),
    buildTemplate: async ({ prepare }) => {
      const guest = { address: '192.0.2.2', dial: dialTo('192.0.2.2'), credential: async () => null };
      for (const pace of [3, 1e9]) await prepare({ ...guest, pace }, never);
      return { ...template, pace: 7 };
    },
  };
  const { driver, images } = openBoth(fake as VmDriver);
  await images.find('base');
  assert.equal(driver.pace, 1);
  await driver.findTemplate({ image, variant: 'v' });
  assert.equal(driver.pace, 6);
  await driver.getTemplate('t');
  assert.equal(driver.pace, 6, 'the slowest counts');
  const prepare: TemplateBuild['prepare'] = async ({ pace }) => (paces.push(pace), {});
  await driver.buildTemplate({ image, variant: 'v', brokerPort: 4000, progress: () => undefined, prepare }, never);
  assert.equal(driver.pace, 7);
  assert.deepEqual(paces, [3, 1], 'what can be no pace is none');
});
