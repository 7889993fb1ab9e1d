/**
 * Whether a guest's clocks agree with the host's: a guest that was frozen, or goes on as another machine's copy, must not
 * notice.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { probeGuest } from './qemu-host.ts';
import { clockErrorMs } from './world.ts';

type Guest = ReturnType<typeof probeGuest>;

/** The kernel reports its monotonic clock in hundredths of a second. */
const grainMs = 20;
const wallErrorMs = 1000;
/** How much faster or slower than the host's a clock may run that was calibrated under emulation on a busy host. */
const rateError = 0.02;

interface Reading {
  /** Times of question and answer on the host's monotonic clock. */
  readonly askedMs: number;
  readonly answeredMs: number;
  readonly guestMs: number;
}

/** Checks wall clock, rate of the monotonic clock, and a timer. Returns the monotonic clock's last value, ms. */
export async function assertClocks(guest: Guest): Promise<number> {
  assert.ok((await clockErrorMs(guest)) < wallErrorMs, 'the wall clock is the host’s');
  const first = await read(guest);
  await sleep(1500);
  const second = await read(guest);
  assertAgree(first, second);
  const [before, after] = (await guest.shell('cat /proc/uptime; sleep 1; cat /proc/uptime')).trim().split('\n');
  const waited = uptimeMs(after!) - uptimeMs(before!);
  const last = await read(guest);
  assert.ok(waited >= 1000 - grainMs, `a timer of 1000 ms went off after ${waited} ms of the guest's`);
  assert.ok(
    waited <= last.answeredMs - second.answeredMs + grainMs,
    `a timer of 1000 ms took ${waited} ms of the guest's`,
  );
  return last.guestMs;
}

/** The clock that never goes back, ms since the template's boot. */
export async function monotonicMs(guest: Guest): Promise<number> {
  return (await read(guest)).guestMs;
}

async function read(guest: Guest): Promise<Reading> {
  const askedMs = performance.now();
  const text = await guest.shell('cat /proc/uptime');
  return { askedMs, answeredMs: performance.now(), guestMs: uptimeMs(text) };
}

/** The time that passed for the guest is between the pause between the calls and the time including the calls. */
function assertAgree(first: Reading, second: Reading): void {
  const passed = second.guestMs - first.guestMs;
  const least = (second.askedMs - first.answeredMs) * (1 - rateError) - grainMs;
  const most = (second.answeredMs - first.askedMs) * (1 + rateError) + grainMs;
  assert.ok(passed >= least && passed <= most, `${passed} ms passed in the guest, ${least} to ${most} outside`);
}

const uptimeMs = (text: string): number => Math.round(Number(text.split(' ')[0]) * 1000);
