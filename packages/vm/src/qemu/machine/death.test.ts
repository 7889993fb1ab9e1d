import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxDeathChars, maxDeathDetail, maxDeathLines, sentenceOfDeath, vmDeathCodes } from '@lodge/domain';
import { deathBy } from './death.ts';
import type { Evidence } from './death.ts';

const nothing: Evidence = {
  said: null,
  end: null,
  outOfMemoryKill: false,
  hostRestarted: false,
  untrusted: false,
  lastWords: '',
  console: '',
};
const signal = (number: number): Partial<Evidence> => ({ end: { code: null, signal: number, words: '' } });
const code = (number: number): Partial<Evidence> => ({ end: { code: number, signal: null, words: '' } });
const panic = (why: string): Partial<Evidence> => ({
  said: 'guest-reset',
  console: `before\r\n[    9.1] Kernel panic - not syncing: ${why}\r\nCPU: 0\r\n---[ end Kernel panic - not syncing: ${why} ]---\r\nRebooting in 1 seconds..\r\n`,
});

const table: readonly (readonly [given: Partial<Evidence>, code: string, detail: string])[] = [
  [{}, 'unknown', ''],
  [code(0), 'unknown', ''],
  [{ hostRestarted: true, ...signal(9) }, 'host_restarted', ''],
  [{ untrusted: true, ...signal(9) }, 'emulator_untrusted', ''],
  [{ said: 'guest-reset', console: '[1] reboot: Restarting system\n' }, 'guest_reset', ''],
  [{ said: 'guest-reset', console: 'all is well\n' }, 'guest_triple_fault', ''],
  [{ said: 'guest-shutdown' }, 'guest_power_off', ''],
  [{ said: 'shutdown', console: 'reboot: Power down\n' }, 'guest_power_off', ''],
  [{ said: 'shutdown', console: 'reboot: Restarting system\n' }, 'guest_reset', ''],
  [{ said: 'guest-panicked' }, 'guest_panic', ''],
  [{ said: 'internal-error' }, 'emulator_stuck', ''],
  [signal(9), 'killed', 'SIGKILL'],
  [{ ...signal(9), outOfMemoryKill: true }, 'host_out_of_memory', ''],
  [{ ...code(0), said: 'host-signal' }, 'killed', 'by a signal'],
  [{ ...code(0), said: 'host-qmp-quit' }, 'killed', 'by its control socket'],
  [signal(31), 'emulator_forbidden', 'SIGSYS'],
  [signal(25), 'disk_bound', 'SIGXFSZ'],
  [signal(11), 'emulator_crashed', 'SIGSEGV'],
  [signal(6), 'emulator_crashed', 'SIGABRT'],
  [signal(64), 'emulator_crashed', 'signal 64'],
  [
    { ...code(1), lastWords: 'one\nqemu: cannot open /var/lib/x: No room\n' },
    'emulator_failed',
    'exit code 1: qemu: cannot open … No room',
  ],
  [code(1), 'emulator_failed', 'exit code 1'],
];
test('each way to die is told by what it leaves', () => {
  for (const [given, wanted, detail] of table) {
    const death = deathBy({ ...nothing, ...given });
    assert.deepEqual([death.code, death.detail], [wanted, detail], JSON.stringify(given));
    assert.ok(vmDeathCodes.includes(death.code));
    assert.match(sentenceOfDeath(death), /^[A-Z].*[.)]$/);
  }
});

test('a panic is told with why, and one for lack of memory apart', () => {
  const why = 'Attempted to kill init! exitcode=0x00000100';
  assert.deepEqual(deathBy({ ...nothing, ...panic(why) }), {
    code: 'guest_panic',
    detail: why,
    console: [
      'before',
      `[    9.1] Kernel panic - not syncing: ${why}`,
      'CPU: 0',
      `---[ end Kernel panic - not syncing: ${why} ]---`,
      'Rebooting in 1 seconds..',
    ],
  });
  const stack = Array.from({ length: 60 }, (_, index) => `frame ${index}`).join('\n');
  const long = deathBy({ ...nothing, said: 'guest-reset', console: `${panic(why).console}${stack}\n` }).console;
  assert.deepEqual([long[0], long.at(-1)], ['before', 'frame 5'], 'its stack takes no room from what led to it');
  for (const noMemory of ['Out of memory: compulsory panic_on_oom is enabled', 'System is deadlocked on memory'])
    assert.equal(deathBy({ ...nothing, ...panic(noMemory) }).code, 'guest_out_of_memory');
});

test('what a hostile guest prints is bounded, and looked at in a moment', () => {
  const begun = performance.now();
  for (const console of ['x'.repeat(1 << 20), '\n'.repeat(1 << 20), 'Kernel panic - not syncing: '.repeat(1 << 16)]) {
    const death = deathBy({ ...nothing, said: 'guest-reset', console });
    assert.ok(death.console.length <= maxDeathLines);
    assert.ok(death.console.join('').length <= maxDeathChars);
    assert.ok(death.detail.length <= maxDeathDetail);
  }
  assert.ok(performance.now() - begun < 1000);
});
