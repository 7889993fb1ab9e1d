/** Calculates when a schedule is due, and handles times that have passed. */
import { cronAfter } from './cron.ts';

export type Timing =
  | { readonly kind: 'cron'; readonly cron: string; readonly timeZone: string }
  /** Times are whole intervals after `anchor`. */
  | { readonly kind: 'every'; readonly everyMs: number; readonly anchor: Date }
  | { readonly kind: 'at'; readonly at: Date };

const unitsMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const maxEveryMs = 366 * unitsMs.d;

/** Milliseconds of `15m`, `2h` or `1d`; null for anything else, and for more than 366 days. */
export function everyMsOf(every: string): number | null {
  const [, count, unit] = /^([1-9]\d{0,5})([mhd])$/.exec(every) ?? [];
  if (count === undefined) return null;
  const ms = Number(count) * unitsMs[unit as keyof typeof unitsMs];
  return ms <= maxEveryMs ? ms : null;
}

/** Returns the first time after `after`, or null when there is none. */
export function nextTime(timing: Timing, after: Date): Date | null {
  switch (timing.kind) {
    case 'cron':
      return cronAfter(timing.cron, timing.timeZone, after);
    case 'every': {
      const { everyMs, anchor } = timing;
      const passed = Math.floor((after.getTime() - anchor.getTime()) / everyMs);
      return new Date(anchor.getTime() + (passed + 1) * everyMs);
    }
    case 'at':
      return timing.at > after ? timing.at : null;
  }
}

/** The plan for a time that has come. */
export interface Firing {
  /** The time of the run. */
  readonly scheduledFor: Date;
  /** The first of further times that have passed too, all covered by this one run; null when none has. */
  readonly missedFrom: Date | null;
  readonly next: Date | null;
}

/** Plans a firing; `due` is the awaited time. */
export function firingOf(timing: Timing, due: Date, now: Date): Firing {
  const following = nextTime(timing, due);
  const missed = following !== null && following <= now;
  return { scheduledFor: due, missedFrom: missed ? following : null, next: missed ? nextTime(timing, now) : following };
}

/**
 * Returns the time to wait for after the clock went back: the first one that comes again and had no run. A schedule then
 * neither stays silent until the clock has caught up nor repeats a run. `taken` are times that had a run, in milliseconds.
 */
export function timeAgain(timing: Timing, now: Date, taken: ReadonlySet<number>): Date | null {
  // Intervals count elapsed time, so their times are counted anew from here.
  if (timing.kind === 'every') return nextTime({ ...timing, anchor: now }, now);
  let time = nextTime(timing, now);
  while (time !== null && taken.has(time.getTime())) time = nextTime(timing, time);
  return time;
}

/** Most agents that may be woken at once without spreading. */
const fewAgents = 5;
const spreadPerAgentMs = 250;
const maxSpreadMs = 60_000;

/**
 * Returns the delay of an agent's run when schedules of that many agents are due at once. A few agents begin within a
 * second, and all within a minute. Runs of one agent have the same delay, so it wakes once.
 */
export function jitterMs(agentId: string, agents: number): number {
  if (agents <= fewAgents) return 0;
  return hashOf(agentId) % Math.min(maxSpreadMs, agents * spreadPerAgentMs);
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
