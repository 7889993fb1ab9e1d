/**
 * Random lives of an agent, for property tests of the rules, of the engine over a fake host, and, in a short form, of real
 * machines. A seed always gives the same life.
 */
import { verbs } from '../agents/operation.ts';
import type { Verb } from '../agents/operation.ts';

/**
 * An event in an agent's life.
 *
 * - `verb`: a client asks.
 * - `use`: a request that needs a live agent comes, and ends after a while.
 * - `wait`: time passes; agents idle long enough go to sleep.
 * - `crash-vm`: the VM's process is killed.
 * - `freeze-vm`: the hypervisor freezes the VM without being asked.
 * - `crash-control`: the control plane is killed, after so many more effects, and started again.
 * - `fail`: the next effect of that kind on the host fails.
 * - `quiet`: everything in progress ends.
 */
export type Event =
  | { readonly do: 'verb'; readonly verb: Verb }
  | { readonly do: 'use'; readonly wake: boolean }
  | { readonly do: 'wait'; readonly seconds: number }
  | { readonly do: 'crash-vm' }
  | { readonly do: 'freeze-vm' }
  | { readonly do: 'crash-control'; readonly afterEffects: number }
  | { readonly do: 'fail'; readonly effect: FailingEffect }
  | { readonly do: 'quiet' };

export const failingEffects = ['create', 'ready', 'pause', 'resume', 'quiesce', 'suspend', 'remove', 'health'] as const;
export type FailingEffect = (typeof failingEffects)[number];

export type Random = (below: number) => number;

/** Returns integers in [0, below) that the seed determines (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

const pick = <T>(random: Random, of: readonly T[]): T => of[random(of.length)]!;

/** Returns a life of `length` events, which ends quietly. */
export function lifeOf(seed: number, length: number): Event[] {
  const random = randomFrom(seed);
  const events = Array.from({ length }, () => eventOf(random));
  return [...events, { do: 'quiet' }];
}

function eventOf(random: Random): Event {
  const dice = random(100);
  if (dice < 40) return { do: 'verb', verb: pick(random, verbs) };
  if (dice < 50) return { do: 'use', wake: random(2) === 0 };
  if (dice < 62) return { do: 'wait', seconds: pick(random, [1, 30, 60, 700, 2_000]) };
  if (dice < 69) return { do: 'crash-vm' };
  if (dice < 71) return { do: 'freeze-vm' };
  if (dice < 80) return { do: 'crash-control', afterEffects: random(6) };
  if (dice < 88) return { do: 'fail', effect: pick(random, failingEffects) };
  return { do: 'quiet' };
}
