/**
 * The QEMU driver behind the machine host's protocol: one life of a VM. The fake driver's tests show that the protocol keeps
 * every promise.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sizes } from '@lodge/domain';
import { patience } from './accelerator.ts';
import {
  destroyHost,
  driverOf,
  holdingsOf,
  newHostSettings,
  probeGuest,
  sharedTemplate,
  takeSharedTemplate,
} from './qemu-host.ts';
import { overChannel } from './remote.ts';
import { KnownImages } from '../src/remote/index.ts';
import { fromRest } from './world.ts';

const never = new AbortController().signal;
const settings = await newHostSettings();
after(() => destroyHost(settings));

const timeout = 20 * 60_000 * patience;

test('a VM is cloned, sized, frozen, saved and started again over the channel', { timeout }, async () => {
  const shared = await takeSharedTemplate(settings);
  const { image } = await sharedTemplate();
  const images = new KnownImages({ idOf: async () => image.id, find: async () => image, ensure: async () => image });
  await images.find('base');
  const driver = overChannel(driverOf(settings), images);
  await driver.start();
  const steps: string[] = [];
  // Its guest goes on from another template's, which saves a boot.
  const build = { ...(await sharedTemplate()), variant: 'remote', progress: (step: string) => void steps.push(step) };
  const prepare = async (guest: { readonly address: string }) => {
    await probeGuest(settings, guest).writeFile('from-template', 'on disk');
    return { token: 'opaque' };
  };
  const template = await driver.buildTemplate({ ...build, prepare, from: shared }, never);
  assert.deepEqual(template.facts, { token: 'opaque' });
  assert.ok(steps.includes('letting the guest go on'));

  const ids = ['lives', 'e1'] as const;
  const request = { agentId: ids[0], executionId: ids[1], machine: sizes.small, template };
  const vm = await driver.create({ ...request, from: 'clone' }, never);
  assert.equal(await probeGuest(settings, vm).readFile('from-template'), 'on disk');
  const rules = { mode: 'allowlist', allow: ['*.example.com', '9.9.9.0/24'] } as const;
  await driver.setEgress(ids[0], rules);
  assert.deepEqual(await driver.resize(...ids, sizes.medium, never), sizes.medium);
  await driver.pause(...ids);
  assert.equal((await driver.inspect(ids[0]))?.state, 'paused');
  await driver.resume(...ids);
  await probeGuest(settings, vm).remember('before', 'the stop');
  assert.ok((await driver.rest(...ids, { facts: { kept: true } }, never)).bytes > 0);
  const again = await driver.create(
    { ...request, executionId: 'e2', machine: sizes.medium, from: fromRest(request.agentId) },
    never,
  );
  assert.deepEqual(again.facts, { kept: true });
  assert.equal(await probeGuest(settings, again).recall('before'), 'the stop');
  await assert.rejects(driver.pause(...ids), { name: 'VmError', code: 'gone' });

  await driver.remove(ids[0], { keepDisk: false });
  assert.deepEqual(await driver.list(), []);
  await driver.stop();
  assert.deepEqual(await holdingsOf(settings), []);
});
