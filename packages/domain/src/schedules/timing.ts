/** When a schedule is due, and what is done about times that have passed. */
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

/** The first time after `after`; null: there is none. */
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

/** What is done when a time has come. */
export interface Firing {
  /** The time that a run is made for. */
  readonly scheduledFor: Date;
  /** The first of further times that have passed too: the one run stands for them all. Null: none has. */
  readonly missedFrom: Date | null;
  readonly next: Date | null;
}

/** `due`: the time that was waited for. */
export function firingOf(timing: Timing, due: Date, now: Date): Firing {
  const following = nextTime(timing, due);
  const missed = following !== null && following <= now;
  return { scheduledFor: due, missedFrom: missed ? following : null, next: missed ? nextTime(timing, now) : following };
}

/**
 * The time to wait for when the clock went back: the first one that comes again and had no run, so that a schedule neither falls
 * silent until the clock has caught up nor repeats what was done. `taken` are times that had one, in milliseconds.
 */
export function timeAgain(timing: Timing, now: Date, taken: ReadonlySet<number>): Date | null {
  // Of elapsed time: its times are counted anew from here.
  if (timing.kind === 'every') return nextTime({ ...timing, anchor: now }, now);
  let time = nextTime(timing, now);
  while (time !== null && taken.has(time.getTime())) time = nextTime(timing, time);
  return time;
}

/** Agents that may be woken at once without being spread. */
const fewAgents = 5;
const spreadPerAgentMs = 250;
const maxSpreadMs = 60_000;

/**
 * How long an agent's run is put off when schedules of so many agents are due at once: a few agents begin in a second, and all
 * within a minute. Runs of one agent are put off alike, so that it wakes once.
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
