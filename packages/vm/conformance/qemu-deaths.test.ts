/** Each way for a VM to die has its own reason and reports the last lines of its guest's console, on a real QEMU. */
import assert from 'node:assert/strict';
import { open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sentenceOfDeath, sizes } from '@lodge/domain';
import type { VmDeath } from '@lodge/domain';
import { dialTo, guestClient, GuestError, maxExecTimeoutMs } from '@lodge/guest';
import { VmError } from '@lodge/ports';
import type { Template, Vm, VmDriver, VmObservation } from '@lodge/ports';
import { findProcesses } from '../src/qemu/host/process.ts';
import { Qmp } from '../src/qemu/machine/qmp.ts';
import { formOf } from '@lodge/testkit/forms';
import { patience } from './accelerator.ts';
import {
  destroyHost,
  driverOf,
  mountVms,
  newHostSettings,
  probeGuest,
  takeSharedTemplate,
  whileVmsAreFull,
} from './qemu-host.ts';
import type { QemuHostSettings } from './qemu-host.ts';
import { fromRest } from './world.ts';

const never = new AbortController().signal;
const minute = 60_000 * patience;
const agentId = 'mortal';
const words = 'these are its last words';

describe('deaths of VMs', { timeout: 20 * minute }, () => {
  let settings: QemuHostSettings;
  let driver: VmDriver;
  let template: Template;
  /** Ends commands in a guest that no longer answers. */
  let ended = new AbortController();
  /** A guest's refusal of the command that should have ended it. */
  let refusal: GuestError | null = null;

  before(async () => {
    settings = await newHostSettings();
    await mountVms(settings);
    template = await takeSharedTemplate(settings);
    await begin();
  });
  afterEach(() => {
    ended.abort();
    ended = new AbortController();
    refusal = null;
    return driver.remove(agentId, { keepDisk: false });
  });
  after(async () => {
    await driver.stop();
    await destroyHost(settings);
  });

  const begin = async (): Promise<void> => {
    driver = driverOf(settings);
    await driver.start();
  };
  const create = (): Promise<Vm> =>
    driver.create({ agentId, executionId: 'e1', machine: sizes.small, template, from: 'clone' }, never);
  const boot = (): Promise<Vm> =>
    driver.create({ agentId, executionId: 'e2', machine: sizes.small, template, from: 'boot' }, never);
  /** Returns a VM whose guest has printed something. */
  const speaking = async (): Promise<Vm> => {
    const vm = await create();
    await probeGuest(settings, vm).print(`${words}\n`);
    return vm;
  };
  /** Returns a VM whose console was read after its guest printed, as the collector does every other second. */
  const heard = async (): Promise<Vm> => {
    const vm = await speaking();
    for (let read = ''; !read.includes(words); read += await driver.readConsole(agentId)) await sleep(10);
    return vm;
  };
  /** Starts something that its guest may not survive. */
  const runs = ({ address }: Vm, script: string): void => {
    const guest = guestClient({ dial: dialTo(address), credential: () => driver.guestCredential(agentId, address) });
    const { signal } = ended;
    guest
      .exec({ argv: ['sh', '-c', script], user: 'root', timeoutMs: maxExecTimeoutMs }, { signal })
      .catch((error: unknown) => {
        if (error instanceof GuestError && error.status === 400) refusal = error;
      });
  };
  const pidOf = async (): Promise<number> => {
    const all = await findProcesses((argument) => argument.includes(`/vms/${agentId}/qmp,`));
    return all.find(({ argv }) => argv[0]?.startsWith('qemu-system-'))!.pid;
  };
  const observed = async (is: (found: VmObservation | null) => boolean): Promise<VmDeath> => {
    const deadline = Date.now() + 2 * minute;
    for (let found = await driver.inspect(agentId); !is(found); found = await driver.inspect(agentId)) {
      assert.ifError(refusal);
      assert.ok(Date.now() < deadline, `not within two minutes: ${JSON.stringify(found)}`);
      await sleep(20);
    }
    const death = await driver.death(agentId);
    assert.ok(death);
    return death;
  };
  const dead = (): Promise<VmDeath> => observed((found) => found?.state === 'dead');
  const says = ({ console }: VmDeath, line: RegExp | string): void =>
    assert.ok(
      console.some((each) => (typeof line === 'string' ? each === line : line.test(each))),
      `${JSON.stringify(console)} has no ${line}`,
    );

  /** The guest ends by itself, and its whole console is read. */
  const byGuest: readonly (readonly [name: string, script: string, code: string, sentence: RegExp, line: RegExp])[] = [
    [
      'a panic',
      'echo c > /proc/sysrq-trigger',
      'guest_panic',
      /^The kernel of the guest panicked\. \(sysrq triggered crash\)$/,
      /Kernel panic/,
    ],
    [
      'a restart from within',
      'echo b > /proc/sysrq-trigger',
      'guest_reset',
      /^The guest restarted its machine from within\.$/,
      /sysrq: Resetting/,
    ],
    [
      'a restart in good order',
      'perl -e "syscall(169, 0xfee1dead, 672274793, 0x1234567, 0)"',
      'guest_reset',
      /^The guest restarted its machine from within\.$/,
      /reboot: Restarting system/,
    ],
    [
      'being switched off from within',
      'echo o > /proc/sysrq-trigger',
      'guest_power_off',
      /^The guest switched its machine off\.$/,
      /Power (?:Off|down)/,
    ],
    // Huge pages take most of the memory untouched, so the rest fills up soon.
    [
      'a guest without memory',
      'echo 1 > /proc/sys/vm/panic_on_oom; echo 900 > /proc/sys/vm/nr_hugepages; perl -e \'push @x, "x" x 1e7 while 1\'',
      'guest_out_of_memory',
      /^The kernel of the guest ran out of memory and panicked\. \(Out of memory.*\)$/,
      /Kernel panic/,
    ],
  ];
  for (const [name, script, code, sentence, line] of byGuest) {
    test(`${name} is told as ${code}`, { timeout: 5 * minute }, async () => {
      runs(await speaking(), script);
      const death = await dead();
      assert.equal(death.code, code);
      assert.match(sentenceOfDeath(death), sentence);
      says(death, line);
      if (code !== 'guest_out_of_memory') says(death, words);
    });
  }

  test('a triple fault is told as what it is', { timeout: 5 * minute }, async () => {
    await speaking();
    const pid = await pidOf();
    await driver.stop();
    const table = await interruptTable(join(settings.dataDir, 'vms', agentId, 'qmp'));
    await begin();
    await clearMemory(pid, template.id, table);
    const death = await dead();
    assert.equal(death.code, 'guest_triple_fault');
    says(death, words);
  });

  const bySignal: readonly (readonly [signal: NodeJS.Signals, code: string, sentence: RegExp])[] = [
    ['SIGKILL', 'killed', /^Somebody on the host ended the emulator\. \(SIGKILL\)$/],
    ['SIGTERM', 'killed', /^Somebody on the host ended the emulator\. \(by a signal\)$/],
    ['SIGSEGV', 'emulator_crashed', /^The emulator crashed\. \(SIGSEGV\)$/],
    ['SIGABRT', 'emulator_crashed', /^The emulator crashed\. \(SIGABRT\)$/],
    ['SIGSYS', 'emulator_forbidden', /may not make.*\(SIGSYS\)$/],
    ['SIGXFSZ', 'disk_bound', /beyond its bound.*\(SIGXFSZ\)$/],
  ];
  for (const [signal, code, sentence] of bySignal) {
    test(`${signal} for its emulator is told as ${code}, with what was read of its console`, async () => {
      await heard();
      process.kill(await pidOf(), signal);
      const death = await dead();
      assert.equal(death.code, code);
      assert.match(sentenceOfDeath(death), sentence);
      says(death, words);
    });
  }

  test('a kill for lack of the host’s memory is told apart from any other', { timeout: 2 * minute }, async (t) => {
    const vm = await heard();
    if (!(await tightenMemory(settings.instance))) return t.skip('this host has no memory controller for us');
    runs(vm, 'head -c 400M /dev/urandom > /dev/shm/much');
    const death = await dead();
    assert.equal(death.code, 'host_out_of_memory');
    assert.match(sentenceOfDeath(death), /ended the emulator for lack of memory\.$/);
    says(death, words);
  });

  test('a full disk of the host stops a VM, which says so and goes on where there is room', async () => {
    const vm = await heard();
    const guest = probeGuest(settings, vm);
    await whileVmsAreFull(settings, 256 << 10, async () => {
      runs(vm, 'head -c 60M /dev/urandom > /srv/much; sync');
      const death = await observed((found) => found?.halted === 'host_disk_full');
      assert.equal(death.code, 'host_disk_full');
      says(death, words);
      assert.equal((await driver.inspect(agentId))?.state, 'paused');
    });
    await driver.resume(agentId, 'e1');
    assert.ok(await guest.answers());
    assert.equal((await driver.inspect(agentId))?.halted, undefined);
    assert.equal(await driver.death(agentId), null);
  });

  test('an emulator that does not start says why, and names no file of the host', async () => {
    await create();
    await driver.remove(agentId, { keepDisk: true });
    await writeFile(join(settings.dataDir, 'vms', agentId, 'disk.qcow2'), 'no disk at all'.repeat(100));
    // The control connection ends some milliseconds before or after the process; both orders must work each time.
    for (let times = 0; times < formOf({ short: 3, long: 10 }); times += 1)
      await assert.rejects(boot(), (error: unknown) => {
        assert.ok(error instanceof VmError && error.death, String(error));
        assert.equal(error.death.code, 'emulator_failed');
        assert.match(error.death.detail, /^exit code 1: .*Image is not in qcow2 format$/);
        assert.doesNotMatch(error.death.detail, /\//);
        return true;
      });
    assert.equal(await driver.death(agentId), null);
  });

  test('a guest that ends as it is waited for is why its start fails', async () => {
    const vm = await create();
    await runsToEnd(vm, 'printf "#!/bin/sh\\necho c > /proc/sysrq-trigger\\n" > /tmp/init && chmod 755 /tmp/init');
    await runsToEnd(vm, 'init=$(readlink -f /sbin/init); cp /tmp/init "$init.new" && mv "$init.new" "$init" && sync');
    await driver.remove(agentId, { keepDisk: true });
    await assert.rejects(boot(), (error: unknown) => {
      assert.ok(error instanceof VmError && error.death, String(error));
      assert.equal(error.death.code, 'guest_panic');
      says(error.death, /Kernel panic/);
      return true;
    });
  });
  const runsToEnd = async ({ address }: Vm, script: string): Promise<void> => {
    const guest = guestClient({ dial: dialTo(address), credential: () => driver.guestCredential(agentId, address) });
    const { exitCode, stderr } = await guest.exec({ argv: ['sh', '-c', script], user: 'root', timeoutMs: minute });
    assert.equal(exitCode, 0, stderr);
  };

  test('a guest that panics while nobody looks waits, and is told by the next control plane', async () => {
    const vm = await speaking();
    runs(vm, 'sleep 2; echo c > /proc/sysrq-trigger');
    await sleep(500);
    await driver.stop();
    await sleep(6000);
    assert.ok(await pidOf(), 'QEMU stands still');
    await begin();
    const death = await dead();
    assert.equal(death.code, 'guest_panic');
    says(death, /Kernel panic/);
  });

  test('whoever asks without a pause while a VM dies is told that it is dead', async () => {
    await create();
    process.kill(await pidOf(), 'SIGKILL');
    const states: string[] = [];
    while (states.at(-1) !== 'dead' && states.length < 10_000) states.push((await driver.inspect(agentId))!.state);
    assert.equal(states.at(-1), 'dead');
  });

  test('an emulator that is killed while nobody looks is told by the next control plane', async () => {
    await create();
    const pid = await pidOf();
    await driver.stop();
    process.kill(pid, 'SIGSEGV');
    await sleep(500);
    await begin();
    const death = await dead();
    assert.deepEqual([death.code, death.detail], ['emulator_crashed', 'SIGSEGV']);
  });

  test('a stop and a new start are no deaths', async () => {
    await create();
    await driver.rest(agentId, 'e1', { facts: {} }, never);
    assert.equal(await driver.death(agentId), null);
    await driver.create({ agentId, executionId: 'e2', machine: sizes.small, template, from: fromRest(agentId) }, never);
    assert.equal(await driver.death(agentId), null);
  });
});

/** The guest-physical address of the table that every exception looks up. */
async function interruptTable(socket: string): Promise<number> {
  const qmp = await Qmp.connect(socket, { timeoutMs: 10_000 });
  const monitor = (line: string): Promise<string> =>
    qmp.execute<string>('human-monitor-command', { 'command-line': line });
  try {
    const base = /^IDT=\s+([0-9a-f]{16}) /m.exec(await monitor('info registers'))![1]!;
    return Number(/gpa: (0x[0-9a-f]+)/.exec(await monitor(`gva2gpa 0x${base}`))![1]);
  } finally {
    qmp.close();
  }
}

/** Clears memory, as a host with broken memory would. */
async function clearMemory(pid: number, templateId: string, at: number): Promise<void> {
  const maps = (await readFile(`/proc/${pid}/maps`, 'utf8')).split('\n');
  const start = Number.parseInt(maps.find((line) => line.endsWith(`${templateId}/memory`))!.split('-')[0]!, 16);
  const memory = await open(`/proc/${pid}/mem`, 'r+');
  try {
    await memory.write(Buffer.alloc(4096), 0, 4096, start + at);
  } finally {
    await memory.close();
  }
}

/** Leaves the VM 50 MiB more than it has. Returns false where this host does not bind memory. */
async function tightenMemory(instance: string): Promise<boolean> {
  const trees = [
    { folder: '/sys/fs/cgroup/memory', used: 'memory.usage_in_bytes', max: 'memory.limit_in_bytes' },
    { folder: '/sys/fs/cgroup', used: 'memory.current', max: 'memory.max' },
  ];
  for (const { folder, used, max } of trees) {
    const group = join(folder, `lodge-${instance}`, agentId);
    const bytes = await readFile(join(group, used), 'utf8').catch(() => null);
    if (bytes === null) continue;
    await writeFile(join(group, max), String(Number(bytes) + (50 << 20)));
    return true;
  }
  return false;
}
