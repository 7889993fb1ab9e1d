import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VmReading } from '@lodge/ports';
import { createFakeDriver, FakeHost } from '@lodge/vm/fake';
import { endingsOf } from '../lifecycle/endings.ts';
import { Meter } from './meter.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const machine = { vcpus: 1, memoryMib: 1024, diskGib: 1 };
const never = new AbortController().signal;
const image = { image: { id: 'i', rootDisk: '/n', kernel: '/n', initrd: '/n' }, variant: 'v' };

async function started(record: (reading: VmReading) => Promise<void>) {
  const host = new FakeHost();
  const driver = createFakeDriver(host);
  const meter = new Meter({ driver, record, log, everyMs: 10 });
  await driver.start();
  const template = await driver.buildTemplate(
    { ...image, brokerPort: 1, prepare: async () => ({}), progress() {} },
    never,
  );
  await driver.create({ agentId: 'aaaaaaaaaaaa', executionId: 'e1', machine, template, from: 'clone' }, never);
  const endings = endingsOf(driver, (agentId) => meter.readLast(agentId));
  return { meter, driver, endings, host };
}

test('a VM is read before it ends, by its execution, and now and then while it runs', async () => {
  const read: VmReading[] = [];
  const { meter, driver, endings } = await started(async (reading) => void read.push(reading));
  const reading = { agentId: 'aaaaaaaaaaaa', executionId: 'e1', cpuSeconds: 1, egressBytes: 0 };
  await endings.rest('aaaaaaaaaaaa', 'e1', { facts: {} }, never);
  assert.deepEqual(read, [reading]);
  meter.start();
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(read.length, 1, 'what does not run is not read');
  await meter.stop();
  await endings.remove('aaaaaaaaaaaa', { keepDisk: false });
  assert.equal(await driver.inspect('aaaaaaaaaaaa'), null);
});

test('a VM whose emulator does not answer is read as any other', async () => {
  const read = Promise.withResolvers<VmReading>();
  const { meter, host } = await started(async (reading) => read.resolve(reading));
  host.silence('aaaaaaaaaaaa', 'told to be silent');
  meter.start();
  assert.equal((await read.promise).executionId, 'e1');
  await meter.stop();
});

test('a VM that makes way for another is read, and so is that one when it makes way again', async () => {
  const read: VmReading[] = [];
  const { driver, endings } = await started(async (reading) => void read.push(reading));
  const kept = { facts: {}, data: { folders: ['/'], except: [] } };
  await endings.rest('aaaaaaaaaaaa', 'e1', kept, never);
  const template = (await driver.findTemplate(image))!;
  await driver.create({ agentId: 'aaaaaaaaaaaa', executionId: 'e2', machine, template, from: 'clone' }, never);
  await endings.remove('aaaaaaaaaaaa', { keepDisk: false, keepRest: true });
  assert.deepEqual(
    read.map(({ executionId }) => executionId),
    ['e1', 'e2'],
  );
});

test('a machine ends also where its figures cannot be written', async () => {
  const { driver, endings } = await started(() => Promise.reject(new Error('the database is away')));
  await endings.remove('aaaaaaaaaaaa', { keepDisk: false });
  assert.equal(await driver.inspect('aaaaaaaaaaaa'), null);
});

test('nor does it wait for ever for them', async () => {
  const { endings } = await started(() => new Promise(() => {}));
  const began = performance.now();
  await endings.remove('aaaaaaaaaaaa', { keepDisk: false });
  assert.ok(performance.now() - began < 60_000);
});
