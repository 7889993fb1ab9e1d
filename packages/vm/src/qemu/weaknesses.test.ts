import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { missingControllers } from './host/cgroup.ts';
import { inspectEmulator } from './machine/emulator.ts';
import { hostWeaknesses, openFlaws, weaknessesOf } from './weaknesses.ts';
import type { HostFacts } from './weaknesses.ts';

const sound: HostFacts = {
  missing: [],
  emulator: { version: 'QEMU emulator version 10.0.2', mapsReadOnly: true },
  accelerator: 'kvm',
  processorFlaws: [],
};

const cases: readonly (readonly [what: string, facts: Partial<HostFacts>, codes: readonly string[]])[] = [
  ['a sound host has none', {}, []],
  ['no memory controller', { missing: [{ controller: 'memory', reason: 'not mounted' }] }, ['memory_unbound']],
  ['no cpu controller', { missing: [{ controller: 'cpu', reason: 'not mounted' }] }, ['cpu_unbound']],
  ['QEMU of Debian 12', { emulator: { version: '7.2', mapsReadOnly: false } }, ['template_writable']],
  ['no KVM', { accelerator: 'tcg' }, ['emulation']],
  ['KVM not tried yet, or no QEMU at all', { accelerator: null, emulator: null }, []],
  ['a processor with open flaws', { processorFlaws: ['mds', 'l1tf'] }, ['processor_flaws']],
  ['which count for KVM alone', { processorFlaws: ['mds'], accelerator: 'tcg' }, ['emulation']],
];
for (const [what, facts, codes] of cases) {
  test(`weaknesses of a host: ${what}`, () => {
    const found = weaknessesOf({ ...sound, ...facts });
    assert.deepEqual(
      found.map(({ code }) => code),
      codes,
    );
    for (const { message, remedy } of found) assert.match(`${message} ${remedy}`, /^[A-Z].*\. [A-Z].*\.$/);
  });
}

test('the kernel’s judgement on its processor is read as it is written', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'lodge-flaws-'));
  t.after(() => rm(folder, { recursive: true }));
  const states = {
    meltdown: 'Not affected',
    spectre_v1: 'Mitigation: usercopy/swapgs barriers and __user pointer sanitization',
    l1tf: 'Mitigation: PTE Inversion; VMX: conditional cache flushes, SMT vulnerable',
    mds: 'Vulnerable: Clear CPU buffers attempted, no microcode; SMT Host state unknown',
    itlb_multihit: 'KVM: Vulnerable',
    srbds: 'Unknown: Dependent on hypervisor status',
  };
  for (const [name, state] of Object.entries(states)) await writeFile(join(folder, name), `${state}\n`);
  assert.deepEqual(await openFlaws(folder), ['itlb_multihit', 'l1tf', 'mds']);
  assert.deepEqual(await openFlaws(join(folder, 'none')), []);
});

test('this host’s weaknesses are those of its QEMU, its control groups and the accelerator that was set', async () => {
  const codes = (await hostWeaknesses({ accelerator: 'tcg', cacheDir: '/nowhere' })).map(({ code }) => code);
  assert.ok(codes.includes('emulation'));
  assert.equal(codes.includes('template_writable'), !(await inspectEmulator()).mapsReadOnly);
  const missing = (await missingControllers()).map(({ controller }) => controller);
  assert.equal(codes.includes('memory_unbound'), missing.includes('memory'));
});
