import assert from 'node:assert/strict';
import { test } from 'node:test';
import { architectures } from './architecture.ts';
import { bootVcpus, qemuCommandLine } from './command-line.ts';
import type { Accelerator } from './architecture.ts';
import type { CommandLine } from './command-line.ts';

const base: CommandLine = {
  accelerator: 'tcg',
  counterKhz: null,
  name: 'vm',
  kernel: '/image/vmlinuz',
  initrd: '/image/initrd',
  disk: '/vms/a/disk.qcow2',
  browser: { file: null },
  memory: null,
  qmpSocket: '/vms/a/qmp',
  tap: 'tap0',
  credentialDigest: null,
  incoming: false,
  vcpus: bootVcpus,
};
const template = { ...base, memory: { path: '/t/memory', mode: 'write', readOnly: false } } as const;
const clone = { ...base, memory: { path: '/t/memory', mode: 'copy', readOnly: false }, incoming: true } as const;

/** The machine's own part: everything except the places of memory, device state and translated code. */
function machineOf(line: CommandLine): string[] {
  return qemuCommandLine(line)
    .filter(
      (argument) =>
        !argument.includes('memory-backend-') &&
        !['-incoming', 'defer', '-global', 'migration.send-configuration=off'].includes(argument),
    )
    .map((argument) => argument.replace(/,tb-size=[0-9]+$/, ''));
}

for (const accelerator of ['tcg', 'kvm'] as Accelerator[]) {
  test(`template, clone and cold boot are the same machine (${accelerator}), for saved state loads into no other`, () => {
    const expected = machineOf({ ...base, accelerator });
    assert.deepEqual(machineOf({ ...template, accelerator }), expected);
    assert.deepEqual(machineOf({ ...clone, accelerator }), expected);
  });
}

test('the device of the browser’s disk is the last of the bus, the same with the disk and with zeroes, and may be absent', () => {
  const devices = (line: CommandLine) => {
    const all = qemuCommandLine(line);
    return all.filter((_, index) => all[index - 1] === '-device');
  };
  const without = devices({ ...clone, browser: null });
  const own = devices(clone).slice(without.length);
  assert.deepEqual(
    devices(clone).slice(0, without.length),
    without,
    'saved state of earlier releases finds its places',
  );
  assert.deepEqual(own, ['virtio-blk-pci,id=browser-device,drive=browser,serial=lodge-browser,num-queues=1']);
  assert.deepEqual(devices({ ...clone, browser: { file: '/data/browser/disk' } }), devices(clone));
});

test('a clone keeps its writes to itself, a template puts them into its file', () => {
  const memoryOf = (line: CommandLine) =>
    qemuCommandLine(line)
      .filter((argument) => argument.startsWith('{"qom-type":"memory-backend-file"'))
      .map((argument) => JSON.parse(argument) as Record<string, unknown>);
  assert.equal(memoryOf(template)[0]!['share'], true);
  assert.equal(memoryOf(clone)[0]!['share'], false);
  assert.equal(memoryOf(clone)[0]!['readonly'], undefined);
  const modern = memoryOf({ ...clone, memory: { ...clone.memory, readOnly: true } })[0]!;
  assert.deepEqual([modern['readonly'], modern['rom'], modern['share']], [true, 'off', false]);
  assert.deepEqual(memoryOf(base), []);
});

test('no machine has a balloon: a private mapping would pass a guest’s discards on to its template', () => {
  for (const line of [base, template, clone]) assert.doesNotMatch(qemuCommandLine(line).join(' '), /balloon/);
});

test('pages of one guest are not merged with another’s, and what a guest discards is freed', () => {
  const line = qemuCommandLine(clone);
  assert.match(line[line.indexOf('-machine') + 1]!, /\bmem-merge=off\b/);
  interface Node {
    readonly driver: string;
    readonly discard: string;
    readonly file?: Node;
  }
  const node = JSON.parse(line[line.indexOf('-blockdev') + 1]!) as Node;
  const layers = [node, node.file!, node.file!.file!];
  assert.deepEqual(
    layers.map(({ driver, discard }) => [driver, discard]),
    [
      ['throttle', 'unmap'],
      ['qcow2', 'unmap'],
      ['file', 'unmap'],
    ],
  );
});

test('QEMU may start no process, gain no privilege, and runs nothing of the guest before it is told to', () => {
  const line = qemuCommandLine(clone);
  const sandbox = line[line.indexOf('-sandbox') + 1];
  assert.equal(sandbox, 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny');
  assert.ok(line.includes('-S'));
});

test('a guest that boots is told by which credential it knows the host, and nothing else of the machine changes', () => {
  const digest = 'd'.repeat(64);
  const withCredential = qemuCommandLine({ ...base, credentialDigest: digest });
  const parameters = (line: readonly string[]) => line[line.indexOf('-append') + 1]!.split(' ');
  assert.deepEqual(parameters(withCredential), [...parameters(qemuCommandLine(base)), `lodge.credential=${digest}`]);
  assert.deepEqual(
    withCredential.toSpliced(withCredential.indexOf('-append') + 1, 1),
    qemuCommandLine(base).toSpliced(withCredential.indexOf('-append') + 1, 1),
  );
});

test('a machine of ARM has all its processors from the start, and none that is plugged in', () => {
  const line = qemuCommandLine({ ...clone, vcpus: 4 }, architectures.arm64);
  assert.equal(line[0], 'qemu-system-aarch64');
  assert.equal(line[line.indexOf('-smp') + 1], '4,maxcpus=4,sockets=1,cores=4,threads=1');
  assert.ok(!line.some((argument) => argument.includes('core-id=')));
  assert.match(line[line.indexOf('-append') + 1]!, /^console=ttyAMA0 /);
});
