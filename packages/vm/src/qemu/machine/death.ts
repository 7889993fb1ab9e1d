/**
 * Why a VM ended, from the evidence that is left. The table, first match first:
 *
 *   host_restarted       its process began before the host's last boot
 *   emulator_untrusted   its control connection broke the protocol, and the watch ended it
 *   guest_*              QEMU stood still because its guest had ended (SHUTDOWN, or its run state); the guest's console
 *                        says how: `Kernel panic`, `reboot: …`, `sysrq: Resetting`. Silence is a triple fault
 *   emulator_stuck       QEMU stood still with an internal error (KVM gave up)
 *   host_out_of_memory   signal KILL, and the control group counts an out-of-memory kill
 *   killed               signal KILL, TERM, INT or HUP; or QEMU was asked to end over its socket
 *   emulator_forbidden   signal SYS (seccomp)
 *   disk_bound           signal XFSZ (RLIMIT_FSIZE)
 *   emulator_crashed     any other signal
 *   emulator_failed      an exit code other than 0; its last words are the detail
 *
 * A guest may lie about its own end. Lodge believes it, because only its owner sees the reason.
 */
import { constants } from 'node:os';
import { maxDeathChars, maxDeathDetail, maxDeathLines } from '@lodge/domain';
import type { VmDeath, VmDeathCode } from '@lodge/domain';
import type { ProcessEnd } from '../host/reaper.ts';

export interface Evidence {
  /** Why QEMU stood still or ended in order: SHUTDOWN's reason, or a run state. Null: it did neither. */
  readonly said: string | null;
  /** How the process ended; null where nobody saw it. */
  readonly end: ProcessEnd | null;
  readonly outOfMemoryKill: boolean;
  readonly hostRestarted: boolean;
  readonly untrusted: boolean;
  /** The last output of QEMU. */
  readonly lastWords: string;
  /** The last output of the guest. */
  readonly console: string;
}

type Cause = readonly [code: VmDeathCode, detail?: string];

/** Run states and reasons of a QEMU that stands still for good because its guest has ended. */
const guestEnds = ['guest-reset', 'guest-shutdown', 'guest-panic', 'guest-panicked', 'shutdown'];
const askedToEnd = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'];

export const isGuestEnd = (said: string): boolean => guestEnds.includes(said);

export function deathBy(evidence: Evidence): VmDeath {
  const [code, detail = ''] = causeOf(evidence);
  return { code, detail: detail.slice(0, maxDeathDetail), console: lastLines(tellingPart(evidence.console)) };
}

function causeOf({ said, end, outOfMemoryKill, hostRestarted, untrusted, lastWords, console }: Evidence): Cause {
  if (hostRestarted) return ['host_restarted'];
  if (untrusted) return ['emulator_untrusted'];
  if (said !== null && isGuestEnd(said)) return guestCause(said, console);
  if (said === 'internal-error') return ['emulator_stuck'];
  const signal = end?.signal ?? null;
  if (signal !== null) return signalCause(nameOf(signal), outOfMemoryKill);
  if (said !== null) return ['killed', said === 'host-signal' ? 'by a signal' : 'by its control socket'];
  if (end !== null && end.code !== 0) {
    const words = withoutPaths(lastLine(lastWords));
    return ['emulator_failed', words === '' ? `exit code ${end.code}` : `exit code ${end.code}: ${words}`];
  }
  return outOfMemoryKill ? ['host_out_of_memory'] : ['unknown'];
}

function signalCause(signal: string, outOfMemoryKill: boolean): Cause {
  if (signal === 'SIGKILL' && outOfMemoryKill) return ['host_out_of_memory'];
  if (askedToEnd.includes(signal)) return ['killed', signal];
  if (signal === 'SIGSYS') return ['emulator_forbidden', signal];
  if (signal === 'SIGXFSZ') return ['disk_bound', signal];
  return ['emulator_crashed', signal];
}

/** A panic comes first: the lines after it may say that the machine restarts. */
const panic = 'Kernel panic - not syncing: ';
const powerOffs = ['reboot: Power down', 'reboot: System halted'];
const resets = ['reboot: Restarting system', 'reboot: machine restart', 'sysrq: Resetting'];

function guestCause(said: string, console: string): Cause {
  const at = console.indexOf(panic);
  if (at >= 0) {
    const why = console.slice(at + panic.length, at + panic.length + 2 * maxDeathDetail).split(/[\r\n]/, 1)[0]!;
    const noMemory = ['Out of memory', 'deadlocked on memory'].some((words) => why.includes(words));
    return [noMemory ? 'guest_out_of_memory' : 'guest_panic', why];
  }
  if (said === 'guest-panic' || said === 'guest-panicked') return ['guest_panic'];
  const isThere = (words: string): boolean => console.includes(words);
  if (said === 'guest-shutdown' || powerOffs.some(isThere)) return ['guest_power_off'];
  return resets.some(isThere) ? ['guest_reset'] : ['guest_triple_fault'];
}

function nameOf(signal: number): string {
  const found = Object.entries(constants.signals).find(([, number]) => number === signal);
  return found?.[0] ?? `signal ${signal}`;
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)!;
}

/** Removes paths: QEMU names files of the host, which an agent's owner must not see. */
function withoutPaths(text: string): string {
  const words = text.slice(0, 4 * maxDeathDetail).split(' ');
  return words.map((word) => (word.includes('/') ? '…' : word)).join(' ');
}

/** After a panic the kernel prints its stack, which would leave no room for the lines that led to it. */
const linesAfterPanic = 9;

function tellingPart(console: string): string {
  let end = console.indexOf(panic);
  for (let lines = 0; end >= 0 && lines <= linesAfterPanic; lines += 1) end = console.indexOf('\n', end + 1);
  return end < 0 ? console : console.slice(0, end);
}

/** Whole lines from the end, as far as the bounds allow; a long line is cut. */
function lastLines(console: string): readonly string[] {
  const lines: string[] = [];
  let room = maxDeathChars;
  for (const line of console
    .slice(-4 * maxDeathChars)
    .split(/\r?\n/)
    .toReversed()) {
    if (line.trim() === '') continue;
    const kept = line.slice(0, Math.min(room, 400));
    lines.unshift(kept);
    room -= kept.length;
    if (lines.length === maxDeathLines || room <= 0) break;
  }
  return lines;
}
