/**
 * A storm: work comes in while the processes that do it are killed with -9 again and again. The harness is the same for all kinds of
 * work; a plan says what comes in, whom a kill meets, what is not over yet, and what must have come of it all.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

export interface StormPlan {
  /** Says what comes in and who is killed how often. */
  readonly name: string;
  readonly kills: number;
  /** Least and most milliseconds before each kill. */
  readonly pauseMs: readonly [least: number, most: number];
  /** Bound on the time that what is left takes after the last kill. */
  readonly withinMs: number;
  readonly open: () => Promise<Storm>;
}

export interface Storm {
  /** Comes before the first kill. */
  begin?(): Promise<void>;
  /** Brings work in, beside the kills. */
  bring?(): Promise<void>;
  /** Kills for the n-th time, from 0, and has what was killed followed by another one. */
  kill(n: number): Promise<void>;
  /** Tells in words what is not over yet; null when all is. */
  open(): Promise<string | null>;
  /** Asserts what must have come of it, and gives figures. */
  count(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export function describeStorm({ name, kills, pauseMs, withinMs, open }: StormPlan): void {
  let storm: Storm;
  before(async () => {
    storm = await open();
  });
  after(() => storm?.close());

  test(name, { timeout: withinMs + 5 * 60_000 }, async (t) => {
    const startedAt = performance.now();
    await storm.begin?.();
    const bringing = storm.bring?.();
    for (let n = 0; n < kills; n += 1) {
      await sleep(randomInt(...pauseMs));
      await storm.kill(n);
    }
    await bringing;
    for (const end = Date.now() + withinMs; ; await sleep(300)) {
      const left = await storm.open();
      if (left === null) break;
      assert.ok(Date.now() < end, left);
    }
    for (const figure of await storm.count()) t.diagnostic(figure);
    t.diagnostic(`in ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  });
}
