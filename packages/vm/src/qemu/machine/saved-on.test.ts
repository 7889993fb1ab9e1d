/**
 * State of another machine is not loaded, and updates of the host are noticed. Under emulation the processor does not
 * matter.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foreign, hostProcessor, savedOn, updated } from './saved-on.ts';
import type { SavedOn } from './saved-on.ts';

const cpuInfo = (changes: Readonly<Record<string, string>> = {}): string =>
  Object.entries({
    processor: '0',
    vendor_id: 'GenuineIntel',
    'cpu family': '6',
    model: '106',
    'model name': 'Xeon Gold 6338',
    microcode: '0xd000375',
    flags: 'fpu sse2 hle rtm',
    ...changes,
  })
    .map(([name, value]) => `${name}\t: ${value}\n`)
    .join('');
const kvm = (changes: Readonly<Record<string, string>> = {}, kernel = '6.1.0-40'): SavedOn => ({
  madeWith: 'QEMU 10.0 (kvm)',
  processor: hostProcessor(cpuInfo(changes), kernel),
});

test('another emulator, accelerator or processor is told by name', () => {
  const emulated: SavedOn = { madeWith: 'QEMU 10.0 (tcg)', processor: null };
  assert.match(foreign(emulated, kvm())!, /saved by QEMU 10.0 \(tcg\), and this host has QEMU 10.0 \(kvm\)/);
  const epyc = { vendor_id: 'AuthenticAMD', 'model name': 'EPYC 9354' };
  assert.match(foreign(kvm(), kvm(epyc))!, /saved on Xeon Gold 6338, and this host has EPYC 9354/);
  assert.match(foreign(kvm(), kvm({ flags: 'fpu sse2' }))!, /Xeon Gold 6338 of this host offers other features/);
  assert.equal(foreign(kvm(), kvm()), null);
  assert.equal(foreign(undefined, kvm()), null, 'an older release did not write it down');
});

test('other microcode or another kernel is noticed, and no reason to refuse', () => {
  const here = kvm({ microcode: '0xd0003f6' }, '6.1.0-41');
  assert.equal(foreign(kvm(), here), null);
  assert.equal(updated(kvm(), here), 'microcode 0xd000375 to 0xd0003f6, kernel 6.1.0-40 to 6.1.0-41');
  assert.equal(updated(kvm(), kvm()), null);
});

test('under emulation nothing of the host’s processor is written down', async () => {
  const saved = await savedOn('QEMU 10.0 (tcg)', 'tcg');
  assert.deepEqual(saved, { madeWith: 'QEMU 10.0 (tcg)', processor: null, counterKhz: null });
  assert.deepEqual([foreign(saved, saved), updated(saved, saved)], [null, null]);
});

test('under emulation a counter of another rate is told, and one that differs as measurements do is the same', async () => {
  const at = (khz: number): Promise<SavedOn> => savedOn('QEMU 10.0 (tcg)', 'tcg', khz);
  assert.match(
    foreign(await at(2_596_100), await at(2_994_300))!,
    /ran at 2596100 kHz, and this host's runs at 2994300/,
  );
  assert.equal(foreign(await at(2_596_100), await at(2_594_200)), null);
  const untold: SavedOn = { madeWith: 'QEMU 10.0 (tcg)', processor: null };
  assert.notEqual(foreign(untold, await at(2_596_100)), null, 'nothing is known of an older one');
});

test('a processor that tells little is one all the same', () => {
  const { model, microcode } = hostProcessor('processor\t: 0\n');
  assert.deepEqual([model, microcode], ['unknown', 'unknown']);
});

test('processors of ARM are told apart by what their kernel says of them', () => {
  const arm = (part: string): string =>
    `processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: ${part}\n`;
  const [one, other] = [hostProcessor(arm('0xd0c')), hostProcessor(arm('0xd40'))];
  assert.deepEqual([one.model, other.model], ['0xd0c', '0xd40']);
  assert.notEqual(one.features, other.features);
});
