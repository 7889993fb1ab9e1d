/** Machines live while another template is made beside them, which keeps the host busy: none of them ends by itself. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sizes } from '@lodge/domain';
import type { Template, VmDriver } from '@lodge/ports';
import { formOf } from '@lodge/testkit/forms';
import { baseImage } from './base-image.ts';
import { destroyHost, driverOf, holdingsOf, newHostSettings, probeGuest } from './qemu-host.ts';
import type { QemuHostSettings } from './qemu-host.ts';

const never = new AbortController().signal;
const lives = formOf({ short: 3, long: 50 });
/** The longest bound is for the long form on KVM in an emulated machine. */
const timeoutMs = formOf({ short: 60, long: 240 }) * 60_000;

describe('machines beside a template that is being made', { timeout: timeoutMs }, () => {
  let settings: QemuHostSettings;
  let driver: VmDriver;
  const ends: string[] = [];

  before(async () => {
    settings = await newHostSettings();
    driver = driverOf(settings);
    driver.onExit(({ executionId }) => ends.push(executionId));
    await driver.start();
  });
  after(async () => {
    await driver.stop();
    await destroyHost(settings);
  });

  const build = async (variant: string, prepare: (guest: { readonly address: string }) => Promise<void>) => {
    const request = { image: await baseImage(), variant, brokerPort: 4001, progress: () => undefined };
    return driver.buildTemplate({ ...request, prepare: async (guest) => (await prepare(guest), {}) }, never);
  };

  const assertLives = (executionId: string): void => {
    assert.ok(!ends.includes(executionId), `${executionId} ended by itself`);
  };

  /** Clones, pauses, stops and starts. */
  const live = async (agentId: string, template: Template): Promise<void> => {
    const request = { agentId, machine: sizes.small, template };
    const vm = await driver.create({ ...request, executionId: `${agentId}-1`, from: 'clone' }, never);
    await probeGuest(settings, vm).remember('mine', agentId);
    await driver.pause(agentId, `${agentId}-1`);
    await driver.resume(agentId, `${agentId}-1`);
    assertLives(`${agentId}-1`);
    await driver.suspend(agentId, `${agentId}-1`, {}, never);
    const again = await driver.create({ ...request, executionId: `${agentId}-2`, from: 'snapshot' }, never);
    assert.equal(await probeGuest(settings, again).recall('mine'), agentId);
    assertLives(`${agentId}-2`);
    await driver.remove(agentId, { keepDisk: false });
  };

  test('each is made, frozen, saved and started', async () => {
    const template = await build('beside', () => Promise.resolve());
    const done = new AbortController();
    const other = build('busy', async (guest) => {
      // It lasts as long as machines are made, and not longer.
      while (!done.signal.aborted)
        await probeGuest(settings, guest).shell('timeout 5 sh -c "while :; do :; done"; true');
    });
    try {
      for (let index = 1; index <= lives; index += 1) {
        await live(`life${index}`, template);
        console.log(`${index} of ${lives} lives`);
      }
    } finally {
      done.abort();
      await other;
    }
    assert.deepEqual(await holdingsOf(settings), []);
  });
});
