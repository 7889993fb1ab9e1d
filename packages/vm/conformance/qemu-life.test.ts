/**
 * One life of a machine, step by step, with its clocks after each step: on KVM and under emulation alike (`npm run
 * test:kvm`).
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sizes } from '@lodge/domain';
import { dialTo, guestClient, noCredential } from '@lodge/guest';
import type { Guest } from '@lodge/guest';
import { restOf } from '@lodge/ports';
import type { Template, Vm, VmDriver, VmRequest } from '@lodge/ports';
import { findProcesses } from '../src/qemu/host/process.ts';
import { formOf } from '@lodge/testkit/forms';
import { acceleratorOf, wantedAccelerator } from './accelerator.ts';
import { assertClocks, monotonicMs } from './clocks.ts';
import { assertNothingInCommon, draw, startProbes } from './randomness.ts';
import type { Sample } from './randomness.ts';
import { clockErrorMs, fromRest } from './world.ts';
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

const never = new AbortController().signal;
const agentId = 'lives';
const copies = formOf({ short: 3, long: 20 });
const run = promisify(execFile);
const dayMs = 24 * 60 * 60_000;
/** A test suspends only a machine that was made for the tests. */
const hostMaySleep = process.env['TESTS_HOST_MAY_SLEEP'] === 'yes';

describe('one life of a machine', { timeout: 90 * 60_000 }, () => {
  let settings: QemuHostSettings;
  let driver: VmDriver;
  let shared: Template;
  let template: Template;
  let vm: Vm;
  let savedAtMs = 0;

  before(async () => {
    settings = await newHostSettings();
    shared = await takeSharedTemplate(settings);
    driver = driverOf(settings);
    await driver.start();
  });
  after(async () => {
    await driver.stop();
    await destroyHost(settings);
  });

  const request = (executionId: string, from: VmRequest['from']): VmRequest => {
    return { agentId, executionId, machine: sizes.small, template, from };
  };
  const guest = () => probeGuest(settings, vm);
  const guestAt = (name: string, { address }: Vm): Guest => {
    return { dial: dialTo(address), credential: async () => driver.guestCredential(name, address) };
  };

  test('its template is made', async () => {
    const prepare = async (made: { readonly address: string }) => {
      await probeGuest(settings, made).remember('from-template', 'in memory');
      await startProbes({ dial: dialTo(made.address), credential: noCredential });
      savedAtMs = await monotonicMs(probeGuest(settings, made));
      return {};
    };
    // Its guest goes on from another template's, which spares a boot.
    const build = { ...(await sharedTemplate()), variant: 'life', prepare, from: shared };
    template = await driver.buildTemplate(build, never);
  });

  test('a clone goes on where the template stopped, on the accelerator that is wanted', async () => {
    vm = await driver.create(request('e1', 'clone'), never);
    assert.equal(await guest().recall('from-template'), 'in memory');
    const all = await findProcesses((argument) => argument.includes(`path=${settings.dataDir}/vms/${agentId}/`));
    const found = all.find(({ argv }) => argv[0]?.startsWith('qemu-system-'));
    assert.ok(found);
    const accelerator = acceleratorOf(found);
    console.log(`accelerator of ${agentId}: ${accelerator}`);
    assert.equal(accelerator, wantedAccelerator ?? accelerator);
  });

  test('a clone’s clocks are right', async () => {
    const source = await guest().shell('cat /sys/devices/system/clocksource/clocksource0/current_clocksource');
    console.log(`clock source of the guest: ${source.trim()}`);
    assert.ok((await monotonicMs(guest())) >= savedAtMs, 'its monotonic clock did not go back');
    await assertClocks(guest());
  });

  test('its clock is set after the host’s was, and after somebody put it a day back and it was paused', async () => {
    const { now } = Date;
    Date.now = () => now() + dayMs;
    try {
      const deadline = now() + 5 * 60_000;
      while ((await clockErrorMs(guest())) > 1000) {
        assert.ok(now() < deadline, 'it took the time');
        await sleep(500);
      }
    } finally {
      Date.now = now;
    }
    // The guest is a day ahead now; a pause ends before the driver looks at the host's clock again.
    await driver.pause(agentId, 'e1');
    await driver.resume(agentId, 'e1');
    await assertClocks(guest());
  });

  test('its clocks are right after its host slept', { skip: !hostMaySleep }, async () => {
    // This runs by hand, on a host that its clock's alarm wakes: the machine of the tests on KVM would sleep on.
    const before = performance.now() - Date.now();
    await run('rtcwake', ['--mode', 'freeze', '--seconds', '20']);
    assert.ok(Math.abs(performance.now() - Date.now() - before) > 10_000, 'the host slept');
    const deadline = Date.now() + 5 * 60_000;
    while ((await clockErrorMs(guest())) > 1000) {
      assert.ok(Date.now() < deadline, 'it took the time');
      await sleep(500);
    }
    await assertClocks(guest());
  });

  test('it is paused and goes on, and a timer that was under way goes off', async () => {
    const timer = guest().shell('cat /proc/uptime; sleep 3; cat /proc/uptime');
    await sleep(500);
    await driver.pause(agentId, 'e1');
    assert.equal((await driver.inspect(agentId))?.state, 'paused');
    await sleep(4000);
    await driver.resume(agentId, 'e1');
    const [begun, ended] = (await timer).split('\n').map((line) => Number(line.split(' ')[0]));
    assert.ok(ended! - begun! >= 2.98, `it took ${ended! - begun!} s of the guest's`);
    await assertClocks(guest());
  });

  test('it is saved, and started again with its memory, its clocks and its timers', async () => {
    await guest().remember('mine', 'in memory');
    // The timer has a session of its own, and exists by then: the end of a command ends its group.
    await guest().shell('setsid sh -c "sleep 5; echo fired > /dev/shm/timer" > /dev/null 2>&1 & sleep 1');
    // The guest's clock is set as if the VM were started again a day later.
    await guest().shell('date -s "$(date -d yesterday)"');
    const stoppedAtMs = await monotonicMs(guest());
    const { bytes } = await driver.rest(agentId, 'e1', { facts: { kept: true } }, never);
    assert.ok(bytes > 0);
    await sleep(2000);
    vm = await driver.create(request('e2', fromRest(agentId)), never);
    assert.deepEqual(vm.facts, { kept: true });
    assert.equal(await guest().recall('mine'), 'in memory');
    assert.ok((await monotonicMs(guest())) >= stoppedAtMs, 'its monotonic clock did not go back');
    await assertClocks(guest());
    const deadline = Date.now() + 120_000;
    while ((await guest().recall('timer')) === null) {
      assert.ok(Date.now() < deadline, 'the timer went off');
      await sleep(500);
    }
  });

  test(`${copies} clones, and as many starts from one snapshot and from one saved machine, draw no random value twice and have names of their own`, async () => {
    const clone = async (name: string): Promise<Sample> => {
      const made = await driver.create({ ...request('e1', 'clone'), agentId: name }, never);
      const sample = await draw(guestAt(name, made));
      if (name !== 'last') await driver.remove(name, { keepDisk: false });
      return sample;
    };
    const names = [...Array.from({ length: copies - 1 }, (_, index) => `copy-${index}`), 'last'];
    const clones: Sample[] = [];
    for (const name of names) clones.push(await clone(name));
    assert.deepEqual(
      clones.map(({ hostname }) => hostname),
      names,
    );
    assert.equal(new Set(clones.map(({ machineId }) => machineId)).size, copies);
    // The machine at rest of the last one, which is put back as it was saved before each start.
    const folder = join(settings.dataDir, 'saved', restOf('last'));
    const kept = join(settings.dataDir, 'kept');
    await driver.save('last', 'e1', { id: 'copies', memory: true, facts: {} }, never);
    await driver.rest('last', 'e1', { facts: {} }, never);
    await run('cp', ['-a', folder, kept]);
    const starts: Sample[] = [];
    for (const name of names) {
      const again = await driver.create({ ...request(`from-${name}`, fromRest('last')), agentId: 'last' }, never);
      starts.push(await draw(guestAt('last', again)));
      await driver.remove('last', { keepDisk: false });
      await run('cp', ['-a', kept, folder]);
    }
    await driver.remove('last', { keepDisk: false });
    const forks: Sample[] = [];
    for (const name of names) {
      const fork = await driver.create({ ...request('e1', { saved: 'copies', memory: true }), agentId: name }, never);
      forks.push(await draw(guestAt(name, fork)));
      await driver.remove(name, { keepDisk: false });
    }
    await driver.dropSaved('copies');
    assertNothingInCommon(clones, starts, forks);
    const idsOf = (samples: readonly Sample[]) => samples.map((sample) => [sample.hostname, sample.machineId]);
    assert.deepEqual(idsOf(forks), idsOf(clones));
    for (const { hostname, machineId } of starts)
      assert.deepEqual({ hostname, machineId }, { hostname: 'last', machineId: clones.at(-1)!.machineId });
  });

  test('one that was frozen, to be saved, when its control plane ended goes on with the next', async () => {
    const asked = guestClient(guestAt(agentId, vm));
    await asked.freeze();
    const waiting = guest().shell('echo went on');
    assert.equal((await asked.health()).protocol, 1, 'its daemon answers meanwhile');
    await driver.stop();
    driver = driverOf(settings);
    await driver.start();
    assert.equal(await waiting, 'went on\n');
  });

  test('it is sized while it runs', async () => {
    assert.deepEqual(await driver.resize(agentId, 'e2', sizes.medium, never), sizes.medium);
    assert.equal((await guest().machine()).vcpus, sizes.medium.vcpus);
  });

  test('it boots from its disk', async () => {
    await guest().writeFile('kept', 'on disk');
    vm = await driver.create(request('e3', 'boot'), never);
    assert.equal(await guest().readFile('kept'), 'on disk');
    await assertClocks(guest());
    await driver.remove(agentId, { keepDisk: false });
    assert.deepEqual(await holdingsOf(settings), []);
  });
});
