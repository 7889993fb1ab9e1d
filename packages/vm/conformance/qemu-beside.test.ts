/** Machines live while another template is made beside them, which keeps the host busy: none of them ends by itself. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sizes } from '@lodge/domain';
import type { Template, VmDriver } from '@lodge/ports';
import { formOf } from '@lodge/testkit/forms';
import {
  destroyHost,
  driverOf,
  holdingsOf,
  newHostSettings,
  probeGuest,
  sharedTemplate,
  takeSharedTemplate,
} from './qemu-host.ts';
import type { QemuHostSettings } from './qemu-host.ts';
import { fromRest } from './world.ts';

const never = new AbortController().signal;
const lives = formOf({ short: 2, long: 50 });
/** The longest is that of the long form on KVM in an emulated machine. */
const timeoutMs = formOf({ short: 60, long: 240 }) * 60_000;

describe('machines beside a template that is being made', { timeout: timeoutMs }, () => {
  let settings: QemuHostSettings;
  let driver: VmDriver;
  let template: Template;
  const ends: string[] = [];

  before(async () => {
    settings = await newHostSettings();
    template = await takeSharedTemplate(settings);
    driver = driverOf(settings);
    driver.onExit(({ executionId }) => ends.push(executionId));
    await driver.start();
  });
  after(async () => {
    await driver.stop();
    await destroyHost(settings);
  });

  const assertLives = (executionId: string): void => {
    assert.ok(!ends.includes(executionId), `${executionId} ended by itself`);
  };

  /** Clone, pause, stop and start. */
  const live = async (agentId: string): Promise<void> => {
    const request = { agentId, machine: sizes.small, template };
    const vm = await driver.create({ ...request, executionId: `${agentId}-1`, from: 'clone' }, never);
    await probeGuest(settings, vm).remember('mine', agentId);
    await driver.pause(agentId, `${agentId}-1`);
    await driver.resume(agentId, `${agentId}-1`);
    assertLives(`${agentId}-1`);
    await driver.rest(agentId, `${agentId}-1`, { facts: {} }, never);
    const again = await driver.create({ ...request, executionId: `${agentId}-2`, from: fromRest(agentId) }, never);
    assert.equal(await probeGuest(settings, again).recall('mine'), agentId);
    assertLives(`${agentId}-2`);
    await driver.remove(agentId, { keepDisk: false });
  };

  test('each is made, frozen, saved and started', async () => {
    const done = new AbortController();
    const prepare = async (guest: { readonly address: string }) => {
      // As long as machines are made, and never longer than they are.
      while (!done.signal.aborted)
        await probeGuest(settings, guest).shell('timeout 5 sh -c "while :; do :; done"; true');
      return {};
    };
    const other = driver.buildTemplate({ ...(await sharedTemplate()), variant: 'busy', prepare }, never);
    try {
      for (let index = 1; index <= lives; index += 1) {
        await live(`life${index}`);
        console.log(`${index} of ${lives} lives`);
      }
    } finally {
      done.abort();
      await other;
    }
    assert.deepEqual(await holdingsOf(settings), []);
  });
});
