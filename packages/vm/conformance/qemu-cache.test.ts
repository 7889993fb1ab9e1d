/**
 * No agent needs the cache: it is emptied while agents run, are paused and are stopped; all go on, all start, and new
 * templates are made. The first start takes over agents of older releases, whose disks lie over the cache.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { sizes } from '@lodge/domain';
import { restOf } from '@lodge/ports';
import type { Image, Template, TemplateBuild, VmDriver, VmRequest } from '@lodge/ports';
import { backingOf, moveDisk, repoint } from '../src/qemu/saved/backing.ts';
import { readManifest } from '../src/qemu/saved/machine/manifest.ts';
import { TemplateChecks } from '../src/qemu/saved/template-checks.ts';
import { TemplateStore } from '../src/qemu/saved/template-store.ts';
import { makeOld } from '../src/qemu/saved/testing.ts';
import { patience } from './accelerator.ts';
import { baseImage } from './base-image.ts';
import { layAsFormer } from './former-rest.ts';
import { destroyHost, driverOf, newHostSettings, probeGuest, sharedTemplate, takeSharedTemplate } from './qemu-host.ts';
import type { QemuHostSettings } from './qemu-host.ts';
import { fromRest } from './world.ts';

const run = promisify(execFile);
const never = new AbortController().signal;
const minute = 60_000 * patience;

describe('agents and an empty cache', { timeout: 20 * minute }, () => {
  let settings: QemuHostSettings;
  let driver: VmDriver;
  let image: Image;
  let template: Template;

  before(async () => {
    settings = await newHostSettings();
    template = await takeSharedTemplate(settings);
    await begin();
    image = await imageInCache();
  });
  after(async () => {
    await driver.stop();
    await destroyHost(settings);
  });

  const begin = async (): Promise<void> => {
    driver = driverOf(settings);
    await driver.start();
  };
  /** The image lies in a folder that is emptied with the cache, and not in the host's own cache. */
  const imageInCache = async (): Promise<Image> => {
    const shared = await baseImage();
    const folder = join(settings.cacheDir, 'images', shared.id);
    await run('mkdir', ['-p', '-m', '755', join(settings.cacheDir, 'images')]);
    await run('cp', ['-r', '--reflink=auto', join(shared.rootDisk, '..'), folder]);
    const inCache = (path: string): string => join(folder, path.slice(path.lastIndexOf('/') + 1));
    const { id, kernel, initrd, rootDisk } = shared;
    return { id, kernel: inCache(kernel), initrd: inCache(initrd), rootDisk: inCache(rootDisk) };
  };
  const build = (variant: string): TemplateBuild => ({
    image,
    variant,
    brokerPort: 4001,
    progress: () => undefined,
    prepare: () => Promise.resolve({ token: 'template-token' }),
  });
  const request = (agentId: string, executionId: string, from: VmRequest['from']): VmRequest => {
    return { agentId, executionId, machine: sizes.small, template, from };
  };
  const make = async (agentId: string) => {
    const vm = await driver.create(request(agentId, 'e1', 'clone'), never);
    await probeGuest(settings, vm).writeFile('disk', agentId);
    await probeGuest(settings, vm).remember('memory', agentId);
    return vm;
  };
  const suspend = (agentId: string, executionId: string) => driver.rest(agentId, executionId, { facts: {} }, never);
  /** The words that the guest kept on disk and in memory. */
  const keptBy = async (at: { readonly address: string }) => {
    const guest = probeGuest(settings, at);
    return [await guest.readFile('disk'), await guest.recall('memory')];
  };
  const emptyCache = (): Promise<void> => rm(settings.cacheDir, { recursive: true });
  const diskOf = (agentId: string): string => join(settings.dataDir, 'vms', agentId, 'disk.qcow2');
  const ownDisk = (id: string): string => join(settings.dataDir, 'templates', id, 'disk.qcow2');
  const removeAll = async (): Promise<void> => {
    for (const { agentId } of await driver.list()) await driver.remove(agentId, { keepDisk: false });
  };

  test('with the cache gone, agents go on, wake and start with their memory, and new ones are cloned', async () => {
    const vms = new Map<string, { readonly address: string }>();
    for (const name of ['running', 'paused', 'stopped', 'disk']) vms.set(name, await make(name));
    await driver.pause('paused', 'e1');
    await suspend('stopped', 'e1');
    await driver.remove('disk', { keepDisk: true });
    await emptyCache();

    assert.deepEqual(await keptBy(vms.get('running')!), ['running', 'running']);
    await driver.resume('paused', 'e1');
    assert.deepEqual(await keptBy(vms.get('paused')!), ['paused', 'paused']);
    const woken = await driver.create(request('stopped', 'e2', fromRest('stopped')), never);
    assert.deepEqual(await keptBy(woken), ['stopped', 'stopped']);
    // The third test boots a disk that lies over such a file.
    assert.equal(await backingOf(diskOf('disk')), ownDisk(template.id));
    assert.deepEqual(await keptBy(await make('another')), ['another', 'another']);

    // The same holds after a restart of the control plane, which makes the folder again.
    await suspend('running', 'e1');
    await driver.stop();
    await begin();
    const again = await driver.create(request('running', 'e2', fromRest('running')), never);
    assert.deepEqual(await keptBy(again), ['running', 'running']);
    assert.deepEqual(await driver.findTemplate(await sharedTemplate()), template);
    assert.deepEqual(await readdir(join(settings.cacheDir, 'templates')).catch(() => []), []);
    await removeAll();
  });

  test('a new template is made into the empty cache, and taken from there', async () => {
    await rm(settings.cacheDir, { recursive: true, force: true });
    image = await imageInCache();
    const next = await driver.buildTemplate(build('next'), never);
    assert.equal(
      (await stat(ownDisk(next.id))).ino,
      (await stat(ownDisk(next.id).replace(settings.dataDir, settings.cacheDir))).ino,
    );
    await emptyCache();
    const vm = await driver.create({ ...request('new', 'e1', 'clone'), template: next }, never);
    assert.ok(await probeGuest(settings, vm).answers());
    await driver.remove('new', { keepDisk: false });
    assert.deepEqual(await driver.collectTemplates(new Set([template.id])), []);
    assert.notEqual(await driver.getTemplate(next.id), null, 'it was handed out a moment ago');
  });

  test('agents of before are taken over by the first start, stopped ones with their memory, running ones at their next', async () => {
    const old = { running: await make('running'), paused: await make('paused') };
    for (const name of ['stopped', 'disk']) await make(name);
    await driver.pause('paused', 'e1');
    await suspend('stopped', 'e1');
    await driver.remove('disk', { keepDisk: true });
    await driver.stop();
    await layAsFormer(settings.dataDir, 'stopped', 'stop');
    await makeHostOld({ running: ['running', 'paused'], atRest: ['stopped', 'disk'] });

    await begin();
    await emptyCache();
    const rest = join(settings.dataDir, 'saved', restOf('stopped'));
    const bottom = (await readManifest(rest))!.layers.at(-1)!.name;
    for (const disk of [join(rest, bottom), diskOf('disk')])
      assert.equal(await backingOf(disk), ownDisk(template.id), disk);
    assert.deepEqual(await keptBy(old.running), ['running', 'running']);
    await driver.resume('paused', 'e1');
    assert.deepEqual(await keptBy(old.paused), ['paused', 'paused']);
    const woken = await driver.create(request('stopped', 'e2', fromRest('stopped')), never);
    assert.deepEqual(await keptBy(woken), ['stopped', 'stopped']);
    assert.deepEqual(await keptBy(await driver.create(request('disk', 'e2', 'boot'), never)), ['disk', null]);
    await suspend('running', 'e1');
    const next = await driver.create(request('running', 'e2', fromRest('running')), never);
    assert.deepEqual(await keptBy(next), ['running', 'running']);
    await removeAll();
  });

  /**
   * Makes the host as an older release left it: the template only in the cache, over an image there, and under the agents'
   * disks.
   */
  const makeHostOld = async (agents: Readonly<Record<'running' | 'atRest', readonly string[]>>): Promise<void> => {
    image = await imageInCache();
    const own = join(settings.dataDir, 'templates');
    await run('cp', ['-a', own, settings.cacheDir]);
    await rm(own, { recursive: true });
    const owner = { instance: settings.instance, dataDir: settings.dataDir };
    const store = new TemplateStore(settings.cacheDir, owner, new TemplateChecks());
    await store.use(template.id);
    await makeOld(store, template.id, image);
    const cached = store.file(template.id, 'disk');
    for (const name of agents.running) await repoint(diskOf(name), cached);
    for (const name of agents.atRest) await moveDisk(diskOf(name), cached);
  };
});
