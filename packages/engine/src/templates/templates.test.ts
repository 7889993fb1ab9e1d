/** A create waits for a template that is made again, and no template that an agent's disk lies over is collected. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OfferedVersions } from '@lodge/ports';
import { FakeHost, createFakeDriver } from '@lodge/vm/fake';
import { guestRuntime, noTroubles } from '../../../testkit/src/plane/guest-runtime.ts';
import { running, silent, startPlane, until, World } from '../../../testkit/src/plane/plane.ts';
import { createTemplates } from './templates.ts';

test('a template that is gone when a create needs it is made again, and the create goes on', async () => {
  const world = await World.open();
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const first = await running(world, plane);
  host.templates.clear();
  const second = await running(world, plane);
  assert.equal(host.templates.size, 1);
  assert.equal(second.templateId, first.templateId);
  await plane.end();
  await world.close();
});

test('a runtime whose template cannot be made does not keep another waiting', async () => {
  const host = new FakeHost();
  const image = { id: 'image', rootDisk: '/nowhere', kernel: '/nowhere', initrd: '/nowhere' };
  const ensure = (runtime: string) =>
    runtime === 'broken' ? Promise.reject(new Error('no such image')) : Promise.resolve(image);
  const runtime = guestRuntime(host, noTroubles());
  const templates = createTemplates({
    driver: createFakeDriver(host),
    images: { idOf: () => Promise.resolve(image.id), find: () => Promise.resolve(image), ensure },
    runtimes: new Map([
      ['runtime_a', { ...runtime, name: 'broken' }],
      ['runtime_b', runtime],
    ]),
    log: silent,
    buildTimeoutMs: 1_000,
    inUse: () => Promise.resolve(new Set()),
    collectEveryMs: 60_000,
  });
  templates.start();
  await templates.whenReady('runtime_b', AbortSignal.timeout(2_000));
  assert.equal(templates.progress('runtime_a').state, 'failed');
  await templates.stop();
});

test('a template whose guest is slow is prepared as long as its pace allows, and no longer', async () => {
  const image = { id: 'image', rootDisk: '/nowhere', kernel: '/nowhere', initrd: '/nowhere' };
  for (const [pace, state] of [
    [20, 'ready'],
    [1, 'failed'],
  ] as const) {
    const host = new FakeHost();
    host.pace = pace;
    const runtime = guestRuntime(host, noTroubles());
    const templates = createTemplates({
      driver: createFakeDriver(host),
      images: {
        idOf: () => Promise.resolve(image.id),
        find: () => Promise.resolve(image),
        ensure: () => Promise.resolve(image),
      },
      runtimes: new Map([
        [
          'runtime_a',
          {
            ...runtime,
            prepareTemplate: async (...prepare: Parameters<typeof runtime.prepareTemplate>) => {
              await sleep(3_000, undefined, { signal: prepare[2] });
              return runtime.prepareTemplate(...prepare);
            },
          },
        ],
      ]),
      log: silent,
      buildTimeoutMs: 1_000,
      inUse: () => Promise.resolve(new Set()),
      collectEveryMs: 60_000,
    });
    templates.start();
    await until('it is decided', () => templates.progress('runtime_a').state !== 'building');
    assert.equal(templates.progress('runtime_a').state, state);
    if (state === 'failed') assert.match(templates.progress('runtime_a').step, /a step of it took longer than 1 min/);
    await templates.stop();
  }
});

test('a runtime whose template is there waits for no build of another’s, and needs no image', async () => {
  const host = new FakeHost();
  const driver = createFakeDriver(host);
  const imageOf = (id: string) => ({ id, rootDisk: '/nowhere', kernel: '/nowhere', initrd: '/nowhere' });
  const runtime = guestRuntime(host, noTroubles());
  const llm = await runtime.startWarmupLlm(driver.brokerHost);
  const prepare = () => Promise.resolve({});
  const made = { image: imageOf('made'), variant: runtime.templateVariant, brokerPort: llm.port };
  const there = await driver.buildTemplate({ ...made, progress() {}, prepare }, AbortSignal.timeout(5_000));
  await llm.close();
  const asked: string[] = [];
  const templates = createTemplates({
    driver,
    images: {
      idOf: (name) => Promise.resolve(name),
      find: () => Promise.resolve(null),
      // The build takes as long as the test lets it.
      ensure: (name, _, signal) => {
        asked.push(name);
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('given up'))));
      },
    },
    runtimes: new Map([
      ['runtime_a', { ...runtime, name: 'slow' }],
      ['runtime_b', { ...runtime, name: 'made' }],
    ]),
    log: silent,
    buildTimeoutMs: 60_000,
    inUse: () => Promise.resolve(new Set()),
    collectEveryMs: 60_000,
  });
  templates.start();
  try {
    assert.equal((await templates.whenReady('runtime_b', AbortSignal.timeout(5_000))).id, there.id);
    assert.equal(templates.progress('runtime_a').state, 'building');
  } finally {
    await templates.stop();
  }
  assert.deepEqual(asked, ['slow']);
});

test('a collection spares the current template and those in use, and takes the rest', async () => {
  const host = new FakeHost();
  const driver = createFakeDriver(host);
  const image = { id: 'image', rootDisk: '/nowhere', kernel: '/nowhere', initrd: '/nowhere' };
  const ensure = () => Promise.resolve(image);
  const old = (id: string) => ({ id, imageId: 'older', facts: {}, guest: { files: new Map(), memory: new Map() } });
  for (const id of ['used', 'unused']) host.templates.set(id, old(id));
  const templates = createTemplates({
    driver,
    images: { idOf: () => Promise.resolve(image.id), find: ensure, ensure },
    runtimes: new Map([['runtime_a', guestRuntime(host, noTroubles())]]),
    log: silent,
    buildTimeoutMs: 1_000,
    inUse: () => Promise.resolve(new Set(['used'])),
    collectEveryMs: 20,
  });
  templates.start();
  await until('the unused one is gone', () => !host.templates.has('unused'));
  assert.deepEqual([...host.templates.keys()].sort(), ['used', templates.current('runtime_a')!.id].sort());
  await templates.stop();
});

test('another version is current once its template is ready, and each of the two roles has its own', async () => {
  const host = new FakeHost();
  const ensured: string[] = [];
  let release = Promise.withResolvers<void>();
  const ensure = async (name: string) => {
    ensured.push(name);
    if (name.includes('@')) await release.promise;
    return { id: name.replace('@', '-'), rootDisk: '/nowhere', kernel: '/nowhere', initrd: '/nowhere' };
  };
  const one = { version: null, image: 'toy' };
  const next = { version: '2', image: 'toy@2' };
  let offered = { fresh: one, upgrade: one } as OfferedVersions;
  const templates = createTemplates({
    driver: createFakeDriver(host),
    images: { idOf: (name) => Promise.resolve(name.replace('@', '-')), find: () => Promise.resolve(null), ensure },
    runtimes: new Map([['runtime_a', { ...guestRuntime(host, noTroubles()), name: 'toy', version: '1' }]]),
    versions: { offered: () => Promise.resolve(offered) },
    lookEveryMs: 10,
    log: silent,
    buildTimeoutMs: 60_000,
    inUse: () => Promise.resolve(new Set()),
    collectEveryMs: 20,
  });
  const versions = () =>
    [templates.current('runtime_a'), templates.newest('runtime_a')].map((each) => each && templates.versionOf(each.id));
  templates.start();
  try {
    const first = await templates.whenReady('runtime_a', AbortSignal.timeout(30_000));
    assert.deepEqual(versions(), ['1', '1']);
    offered = { fresh: one, upgrade: next };
    await until('the image of the next is made', () => ensured.includes('toy@2'));
    assert.equal(templates.progress('runtime_a').state, 'ready', 'agents are made all the while');
    assert.deepEqual(versions(), ['1', '1']);
    release.resolve();
    await until('the next is what upgrades bring', () => versions()[1] === '2');
    assert.equal(templates.current('runtime_a')?.id, first.id, 'new agents are held');
    assert.notEqual((await templates.whenReady('runtime_a', AbortSignal.timeout(30_000), 'newest')).id, first.id);
    offered = { fresh: next, upgrade: next };
    await until('it is what new agents get', () => versions()[0] === '2');
    await until('the first is needed by nobody', () => !host.templates.has(first.id));
    host.templates.clear();
    ensured.length = 0;
    release = Promise.withResolvers<void>();
    offered = { fresh: one, upgrade: next };
    templates.lost('runtime_a', templates.newest('runtime_a')!.id);
    await until('new agents wait for none but their own', () => versions()[0] === '1' && ensured.includes('toy@2'));
    assert.equal(templates.newest('runtime_a'), null);
    release.resolve();
    await until('both are there', () => versions().join() === '1,2');
    offered = { fresh: one, upgrade: one };
    await until('it is as before', () => versions().join() === '1,1');
  } finally {
    await templates.stop();
  }
});
