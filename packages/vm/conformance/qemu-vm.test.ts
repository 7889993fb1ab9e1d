/** Promises of the QEMU driver beyond the port: confinement of its processes, and builds that survive their builders. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, readlink, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sizes } from '@lodge/domain';
import { dialTo, guestClient } from '@lodge/guest';
import { restOf } from '@lodge/ports';
import type { Template, TemplateBuild, VmDriver, VmRequest } from '@lodge/ports';
import { createQemuDriver } from '../src/qemu/driver.ts';
import { bareCloner } from '../src/qemu/bare-clone.ts';
import { until } from '../src/waiting.ts';
import { openKvmDevice } from '../src/qemu/machine/device-nodes.ts';
import { templateGid } from '../src/qemu/machine/confinement.ts';
import { findProcesses } from '../src/qemu/host/process.ts';
import { swapAreas } from '../src/qemu/host/swap.ts';
import type { FoundProcess } from '../src/qemu/host/process.ts';
import { formOf } from '@lodge/testkit/forms';
import { patience } from './accelerator.ts';
import { baseImage } from './base-image.ts';
import type { BuildMoment } from './build-and-die.ts';
import { layAsFormer } from './former-rest.ts';
import {
  destroyHost,
  driverOf,
  holdingsOf,
  mountVms,
  newHostSettings,
  optionsOf,
  probeGuest,
  whileVmsAreFull,
} from './qemu-host.ts';
import type { QemuHostSettings } from './qemu-host.ts';

const run = promisify(execFile);
const never = new AbortController().signal;
const minute = 60_000 * patience;

describe('QEMU driver on this host', { timeout: 20 * minute }, () => {
  let settings: QemuHostSettings;
  let driver: VmDriver;
  let template: Template;
  let build: TemplateBuild;

  before(async () => {
    settings = await newHostSettings();
    await mountVms(settings);
    build = {
      image: await baseImage(),
      variant: 'vm',
      brokerPort: 4001,
      progress: () => undefined,
      prepare: () => Promise.resolve({ token: 'template-token' }),
    };
    driver = driverOf(settings);
    await driver.start();
  });
  after(async () => {
    await driver.stop();
    await destroyHost(settings);
  });

  // A failed test leaves none of its machines to the next one.
  afterEach(async () => {
    for (const { agentId } of await driver.list()) await driver.remove(agentId, { keepDisk: false });
  });

  const begin = async (): Promise<void> => {
    driver = driverOf(settings);
    await driver.start();
  };
  const processOf = async (agentId: string): Promise<FoundProcess> => {
    const path = join(settings.dataDir, 'vms', agentId);
    const all = await findProcesses((argument) => argument.includes(`path=${path}/qmp,`));
    // The reaper's command line has the path, too.
    const found = all.find(({ argv }) => argv[0]?.startsWith('qemu-system-'));
    assert.ok(found);
    return found;
  };
  /**
   * Kills a builder hard when its guest answers. Its QEMU is gone before the next driver starts, and everything else after
   * that.
   */
  const killBuilder = async (killedAt: BuildMoment, what: Partial<TemplateBuild>): Promise<void> => {
    await driver.stop();
    const script = fileURLToPath(new URL('build-and-die.ts', import.meta.url));
    const parameters = [script, JSON.stringify({ settings, image: build.image, killedAt, ...what })];
    const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    const before = await holdingsOf(settings);
    assert.ok(before.some((line) => line.startsWith('process')));
    if (what.from)
      assert.ok(
        before.some((line) => line.includes('template-')),
        'it yields to others',
      );
    child.kill('SIGKILL');
    await once(child, 'exit');
    await sleep(200);
    assert.deepEqual(
      (await holdingsOf(settings)).filter((line) => line.startsWith('process')),
      [],
    );
    await begin();
    assert.deepEqual(await holdingsOf(settings), []);
  };
  const create = (agentId: string) =>
    driver.create({ agentId, executionId: 'e1', machine: sizes.small, template, from: 'clone' }, never);

  test('a builder that is killed takes its QEMU with it, and the next build of the same template goes through', async () => {
    // A boot takes long: the short form does not wait for its end.
    await killBuilder(formOf({ short: 'boot', long: 'preparation' }), { variant: build.variant });
    template = await driver.buildTemplate(build, never);
    assert.deepEqual(await driver.findTemplate(build), template);
  });

  test('a builder that is killed while a template’s guest goes on leaves that template, and the next build goes through', async () => {
    const further = { ...build, variant: 'further', from: template };
    await killBuilder('preparation', { variant: further.variant, from: template });
    assert.equal(await driver.findTemplate(further), null);
    assert.deepEqual(await driver.findTemplate(build), template);
    const made = await driver.buildTemplate(further, never);
    assert.deepEqual(await driver.findTemplate(further), made);
    await create('of-the-first');
  });

  test('another driver of the same instance does not start beside it', { timeout: minute }, async () => {
    await assert.rejects(driverOf(settings).start(), { name: 'VmError', code: 'timeout' });
  });

  test('a VM’s process has its own user, no privilege, a namespace of its own and bounds', async () => {
    const vm = await create('confined');
    const { pid, argv } = await processOf('confined');
    const status = Object.fromEntries(
      (await readFile(`/proc/${pid}/status`, 'utf8')).split('\n').map((line) => line.split(':\t') as [string, string]),
    );
    const uid = Number(status['Uid']!.split('\t')[0]);
    assert.ok(uid >= 2_000_000_000);
    assert.equal(status['Uid'], Array(4).fill(uid).join('\t'));
    assert.equal(status['Gid'], Array(4).fill(uid).join('\t'));
    // QEMU opens /dev/kvm itself, for which it may need a group.
    const groups = [...(argv.includes('kvm') ? (await openKvmDevice())! : []), templateGid];
    assert.equal(status['Groups']?.trim(), [...new Set(groups)].join(' '));
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) assert.match(status[set]!, /^0+$/, set);
    assert.equal(status['NoNewPrivs'], '1');
    assert.equal(status['Seccomp'], '2');
    assert.notEqual(await readlink(`/proc/${pid}/ns/net`), await readlink('/proc/self/ns/net'));
    assert.match(await readFile(`/proc/${pid}/limits`, 'utf8'), /Max file size\s+1\d{10}\s+1\d{10}/);
    assert.match(
      await readFile(`/proc/${pid}/cgroup`, 'utf8'),
      new RegExp(`/lodge-${settings.instance}/confined$`, 'm'),
    );
    const secret = (await readFile(`/proc/${pid}/cmdline`, 'utf8')) + (await readFile(`/proc/${pid}/environ`, 'utf8'));
    assert.doesNotMatch(secret, /template-token/);
    const processors = await probeGuest(settings, vm).shell('cat /proc/cpuinfo');
    assert.match(processors, /^flags.* sse2 /m);
    if (argv.includes('kvm')) assert.doesNotMatch(processors, /^flags.* (vmx|svm)( |$)/m, 'no nested virtualisation');
    await driver.remove('confined', { keepDisk: false });
  });

  test('a VM’s user reaches neither another VM’s folder nor what it must not of its template', async () => {
    await create('victim');
    await create('thief');
    const victim = join(settings.dataDir, 'vms', 'victim');
    const folder = join(settings.dataDir, 'templates', template.id);
    const thief = (await stat(join(settings.dataDir, 'vms', 'thief', 'disk.qcow2'))).uid;
    const groups = [`--reuid=${thief}`, `--regid=${thief}`, `--groups=${templateGid}`];
    const may = (flag: string, path: string): Promise<boolean> =>
      run('setpriv', [...groups, '--', 'test', flag, path]).then(
        () => true,
        () => false,
      );
    for (const name of ['vm.json', 'disk.qcow2', 'qmp', 'qemu.log', 'qemu.log.pipe', 'exit']) {
      assert.equal(await may('-r', join(victim, name)), false, name);
      assert.equal(await may('-w', join(victim, name)), false, name);
    }
    const own = join(settings.dataDir, 'vms', 'thief');
    assert.equal(await may('-w', own), false, 'its own folder is sealed');
    assert.equal(await may('-r', join(own, 'vm.json')), false);
    assert.equal(await may('-w', join(own, 'disk.qcow2')), true);
    assert.equal(await may('-r', join(folder, 'disk.qcow2')), true);
    assert.equal(await may('-w', join(folder, 'disk.qcow2')), false);
    for (const name of ['manifest.json', 'devices']) assert.equal(await may('-r', join(folder, name)), false, name);
    await driver.remove('thief', { keepDisk: true });
    assert.equal(await may('-r', join(own, 'disk.qcow2')), false, 'a kept disk is out of the user’s reach');
    for (const agentId of ['victim', 'thief']) await driver.remove(agentId, { keepDisk: false });
  });

  test('a guest reads and writes no faster than it may, also one that runs already, and what it trims is freed', async () => {
    const { address } = await create('writer');
    const guest = guestClient({ dial: dialTo(address), credential: () => driver.guestCredential('writer', address) });
    const runs = async (script: string): Promise<number> => {
      const started = performance.now();
      const end = await guest.exec({ argv: ['sh', '-c', script], user: 'root', timeoutMs: minute });
      assert.equal(end.exitCode, 0, JSON.stringify(end));
      return performance.now() - started;
    };
    const diskMib = async (): Promise<number> => (await driver.usage('writer'))!.diskMib;
    const before = await diskMib();
    await runs('head -c 80M /dev/urandom > /srv/much && sync');
    const full = await diskMib();
    assert.ok(full >= before + 80, `${before} MiB, then ${full}`);
    await runs('rm /srv/much && sync && fstrim /');
    assert.ok((await diskMib()) <= full - 60, `${full} MiB, then ${await diskMib()}`);

    const writes = 'dd if=/dev/urandom of=/srv/paced bs=4k count=150 oflag=direct conv=notrunc';
    await runs(writes);
    await driver.stop();
    // A hundredth of the rate of `small`: 5 requests a second, and 25 after a rest.
    driver = createQemuDriver({ ...optionsOf(settings), diskRateFactor: 0.01 });
    await driver.start();
    await driver.resize('writer', 'e1', sizes.small, never);
    assert.ok((await runs(writes)) > 4000);
    await driver.stop();
    await begin();
    await driver.remove('writer', { keepDisk: false });
  });

  test('a VM that is paused for long goes to swap where the host has any, and goes on with its memory', async (t) => {
    await driver.stop();
    const options = optionsOf(settings);
    const told: string[] = [];
    const info = (fields: object, message: string): void => {
      told.push(message);
      options.log.info(fields, message);
    };
    driver = createQemuDriver({ ...options, log: { ...options.log, info }, pageOutAfterMs: 500 });
    await driver.start();
    const guest = probeGuest(settings, await create('asleep'));
    await guest.remember('thought', 'kept');
    const before = await driver.usage('asleep');
    await driver.pause('asleep', 'e1');
    const isOut = (): true | null => told.includes('a paused VM is paged out') || null;
    const hasSwap = (await swapAreas()).length > 0;
    if (hasSwap) await until(isOut, { what: 'its page-out', everyMs: 100, timeoutMs: minute });
    else await sleep(3000);
    assert.equal(isOut() ?? false, hasSwap, 'without swap nothing is tried');
    const { memoryMib, swappedMib } = (await driver.usage('asleep'))!;
    t.diagnostic(`${before!.memoryMib} MiB before, then ${memoryMib} MiB, ${swappedMib} MiB in swap`);
    if (hasSwap) assert.ok(swappedMib > 20 && memoryMib < before!.memoryMib);
    else assert.equal(swappedMib, 0);
    await driver.resume('asleep', 'e1');
    assert.equal(await guest.recall('thought'), 'kept');
    await driver.stop();
    await begin();
  });

  test('clones leave their template as it is, whatever they do with their memory', async () => {
    const vm = await create('busy');
    const guest = probeGuest(settings, vm);
    for (let round = 0; round < 3; round += 1) await guest.remember('much', 'x'.repeat(500_000));
    await guest.writeFile('much', 'x'.repeat(500_000));
    await driver.remove('busy', { keepDisk: false });
    assert.deepEqual(await driver.findTemplate(build), template);
  });

  test('a record that power loss cut short costs no disk, and a stray file among the folders nothing at all', async () => {
    const vm = await create('torn');
    await probeGuest(settings, vm).writeFile('kept', 'before');
    await driver.stop();
    process.kill((await processOf('torn')).pid, 'SIGKILL');
    await truncate(join(settings.dataDir, 'vms', 'torn', 'vm.json'), 10);
    await writeFile(join(settings.dataDir, 'vms', 'Stray file'), '');
    await begin();
    assert.deepEqual(await driver.list(), [
      { agentId: 'torn', executionId: null, state: 'partial', address: null, backup: null },
    ]);
    const request = { agentId: 'torn', executionId: 'e2', machine: sizes.small, template, from: 'boot' } as const;
    assert.equal(await probeGuest(settings, await driver.create(request, never)).readFile('kept'), 'before');
    await driver.remove('torn', { keepDisk: false });
    await rm(join(settings.dataDir, 'vms', 'Stray file'));
  });

  test('a machine at rest is root’s alone, and takes no room that is not there', async () => {
    await create('stopped');
    // A frozen VM writes nothing while the disk is filled.
    await driver.pause('stopped', 'e1');
    await whileVmsAreFull(settings, 256 << 10, async () => {
      await assert.rejects(driver.rest('stopped', 'e1', { facts: {} }, never), { name: 'VmError', code: 'disk_full' });
    });
    await driver.rest('stopped', 'e1', { facts: { token: 'secret' } }, never);
    const folder = join(settings.dataDir, 'saved', restOf('stopped'));
    const [layer] = (await readdir(folder)).filter((name) => name.startsWith('disk-'));
    const modes = { '.': 0o700, manifest: 0o600, pages: 0o600, devices: 0o600, [layer!]: 0o444 };
    for (const [name, mode] of Object.entries(modes)) {
      const found = await stat(join(folder, name));
      assert.deepEqual([found.uid, found.gid, found.mode & 0o777], [0, 0, mode], name);
    }
    await driver.remove('stopped', { keepDisk: false });
  });

  test('agents that an earlier release left at rest have their memory, and one whose upgrade was under way its data', async () => {
    const data = { folders: ['/srv'], except: [] };
    for (const agentId of ['stopped', 'upgraded']) {
      const guest = probeGuest(settings, await create(agentId));
      await guest.writeFile('kept', agentId);
      await guest.remember('thought', agentId);
      await driver.rest(agentId, 'e1', { facts: { agentId }, ...(agentId === 'upgraded' && { data }) }, never);
    }
    await driver.stop();
    await layAsFormer(settings.dataDir, 'stopped', 'stop');
    await layAsFormer(settings.dataDir, 'upgraded', 'upgrade');
    await begin();
    assert.deepEqual(
      (await driver.list()).map(({ agentId, state, executionId }) => `${agentId} ${state} ${executionId}`).sort(),
      ['stopped suspended e1', 'upgraded suspended e1'],
    );
    assert.deepEqual(await readdir(join(settings.dataDir, 'vms')), []);
    const start = (agentId: string, more: Partial<VmRequest>) =>
      driver.create({ agentId, executionId: 'e2', machine: sizes.small, template, from: 'clone', ...more }, never);
    const next = await start('upgraded', {});
    await driver.carryOver('upgraded', next.executionId, data, never);
    assert.equal(await probeGuest(settings, next).readFile('kept'), 'upgraded');
    for (const agentId of ['stopped', 'upgraded']) {
      const again = await start(agentId, { executionId: 'e3', from: { saved: restOf(agentId), memory: true } });
      assert.deepEqual(again.facts, { agentId });
      assert.equal(await probeGuest(settings, again).recall('thought'), agentId);
    }
  });

  test('the host’s firewall is back within seconds when another program has flushed it', async () => {
    const vm = await create('guarded');
    const table = ['list', 'table', 'inet', `lodge_${settings.instance}`];
    const rules = (await run('nft', ['--stateless', ...table])).stdout;
    await run('nft', ['delete', ...table.slice(1)]);
    const deadline = Date.now() + 10_000;
    const found = (): Promise<string> =>
      run('nft', ['--stateless', ...table]).then(
        ({ stdout }) => stdout,
        () => '',
      );
    while ((await found()) !== rules && Date.now() < deadline) await sleep(100);
    assert.equal(await found(), rules);
    assert.ok(await probeGuest(settings, vm).answers());
    await driver.remove('guarded', { keepDisk: false });
  });

  test('a bare clone, the floor of every create, runs, and leaves nothing when removed', async () => {
    const floor = {
      ...settings,
      instance: `${settings.instance}f`,
      range: '10.149.0.0/20',
      dataDir: join(settings.dataDir, 'f'),
    };
    const options = optionsOf(floor);
    await options.network.start();
    try {
      const clone = await bareCloner(options)(template);
      // Nobody has waited for its first answer; a driver would have.
      const answers = async (): Promise<true | null> => (await probeGuest(settings, clone).answers()) || null;
      await until(answers, { what: 'its first answer', everyMs: 20, timeoutMs: minute });
      assert.ok(clone.timings['total']! > 0);
      await clone.remove();
      assert.deepEqual(await options.network.slots(), []);
      await assert.rejects(stat(`/proc/${clone.pid}/cwd`));
    } finally {
      await options.network.teardown();
    }
  });

  test('a QEMU, a namespace and a control group that belong to no folder are taken away at start, others’ are not', async () => {
    const vm = await create('stays');
    await create('orphan');
    const orphan = await processOf('orphan');
    await driver.stop();
    await run('rm', ['-r', join(settings.dataDir, 'vms', 'orphan')]);
    await begin();
    const held = await holdingsOf(settings);
    assert.deepEqual(
      held.filter((line) => line.startsWith('control group')),
      ['control group stays'],
    );
    assert.equal(held.filter((line) => line.startsWith('slot')).length, 1);
    assert.deepEqual(await findProcesses((argument) => argument.includes('/vms/orphan/qmp')), []);
    await assert.rejects(stat(`/proc/${orphan.pid}/cwd`));
    assert.ok(await probeGuest(settings, vm).answers());
    await driver.remove('stays', { keepDisk: false });
    assert.deepEqual(await readdir(join(settings.dataDir, 'vms')), []);
  });
});
