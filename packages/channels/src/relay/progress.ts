/**
 * Shows in direct conversations the progress of long turns. It is decoration: no part waits for it, and failures do not
 * matter. A posted message is recorded in the conversation's row, so that the next holder of the channel removes it.
 *
 * A conversation has one running call, a connection's calls keep their distance, and a platform that asks for fewer gets
 * none for as long as it wants.
 */
import { SendFailure } from '@lodge/ports';
import type { OpenedRelayStore, ProgressLimits, ProgressMessages, ShownProgress } from '@lodge/ports';
import { pause } from '../shared/backoff.ts';
import { within } from '../shared/deadline.ts';
import { keyOf } from './channels.ts';
import type { HeldChannels } from './channels.ts';
import type { Held } from './held.ts';
import { newlyKnown, stepOf } from './progress-step.ts';
import type { Known, Step } from './progress-step.ts';

const maxAtOnce = 50;
const callMs = 8_000;
/** Pause after a failed call. */
const restMs = 5_000;
const maxRestMs = 3_600_000;
const maxFailures = 5;
/** A channel with a longer pause is looked at with all others. */
const soonMs = 2_000;

/** The order of importance: a message that must be removed stands in the way of the answer. */
const order: Readonly<Record<Step['do'], number>> = { remove: 0, post: 1, edit: 2 };

interface Wanted {
  readonly row: ShownProgress;
  readonly known: Known;
  readonly step: Step;
  readonly held: Held;
}

export interface ProgressOptions {
  readonly store: Pick<OpenedRelayStore, 'progress' | 'posted' | 'unposted'>;
  readonly channels: Pick<HeldChannels, 'connected' | 'find'>;
  /** A shorter turn shows nothing. */
  readonly afterMs: number;
}

export class Progress {
  private readonly options: ProgressOptions;
  /** By conversation. */
  private known = new Map<string, Known>();
  private readonly underWay = new Map<string, Promise<void>>();
  /** Time of a channel's next possible call. */
  private freeAt = new Map<string, number>();

  constructor(options: ProgressOptions) {
    this.options = options;
  }

  /** Returns how soon to look again if something had to wait, in ms. */
  async look(): Promise<number | void> {
    const { store, channels, afterMs } = this.options;
    const able = channels.connected.filter((held) => limitsOf(held) !== null);
    this.forgetBut(able);
    if (able.length === 0) return;
    const rows = await store.progress(able.map(({ lease }) => lease));
    const now = performance.now();
    const known = new Map<string, Known>();
    const wanted: Wanted[] = [];
    for (const row of rows) {
      const key = conversationKey(row);
      const before = this.known.get(key);
      // A running step writes into the entry that it began with.
      const isSame = before !== undefined && (before.claim === row.claim || this.underWay.has(key));
      const one = isSame ? before : newlyKnown(row.claim, now);
      known.set(key, one);
      const held = channels.find(row);
      if (held === undefined || held.lease.number !== row.number || this.underWay.has(key)) continue;
      const step = stepOf(row, one, now, afterMs);
      if (step !== null) wanted.push({ row, known: one, step, held });
    }
    this.known = known;
    return this.beginAll(wanted, now);
  }

  /** Waits for running calls, `withinMs` at most. */
  async close(withinMs: number): Promise<void> {
    const waiting = new AbortController();
    await Promise.race([Promise.all(this.underWay.values()), pause(withinMs, waiting.signal)]);
    waiting.abort();
  }

  private beginAll(wanted: readonly Wanted[], now: number): number | void {
    let waitMs = Infinity;
    const inOrder = wanted.toSorted((a, b) => order[a.step.do] - order[b.step.do] || a.known.dueAt - b.known.dueAt);
    for (const one of inOrder) {
      const channel = keyOf(one.row);
      const freeAt = this.freeAt.get(channel) ?? 0;
      if (freeAt > now + soonMs) continue;
      if (freeAt > now) waitMs = Math.min(waitMs, freeAt - now);
      else if (this.underWay.size < maxAtOnce) {
        this.freeAt.set(channel, now + limitsOf(one.held)!.gapMs);
        this.begin(one);
      }
    }
    if (waitMs !== Infinity) return waitMs;
  }

  private begin(one: Wanted): void {
    const key = conversationKey(one.row);
    const work = this.take(one).finally(() => this.underWay.delete(key));
    this.underWay.set(key, work);
  }

  /** Never rejects. */
  private async take(wanted: Wanted): Promise<void> {
    const { row, known, step, held } = wanted;
    try {
      await within(callMs, held.signal, (signal) => this.carryOut(wanted, signal));
      if (step.do !== 'remove') known.text = step.text;
      known.dueAt = performance.now() + (step.do === 'remove' ? 0 : limitsOf(held)!.editEveryMs);
    } catch (error) {
      await this.failed(row, known, step, error).catch(() => undefined);
    }
  }

  private async carryOut({ row, known, step, held }: Wanted, signal: AbortSignal): Promise<void> {
    const progress = held.connection!.progress!;
    if (step.do === 'post') return this.post(row, known, step, { progress, signal });
    if (step.do === 'edit') return progress.edit(row, step.id, step.text, signal);
    await progress.remove(row, step.id, signal);
    await this.gone(row, step.id);
  }

  private async post(
    row: ShownProgress,
    known: Known,
    { text, claim }: Extract<Step, { do: 'post' }>,
    { progress, signal }: { readonly progress: ProgressMessages; readonly signal: AbortSignal },
  ): Promise<void> {
    const { id } = await progress.post(row, text, signal);
    try {
      if (await this.options.store.posted(row, row.conversationId, { id, claim })) return;
    } catch {
      // The write may have succeeded: then the message is found there, and is gone already at its removal.
    }
    // No other process will know of it.
    known.isGivenUp = true;
    await progress.remove(row, id, signal);
  }

  private async failed(row: ShownProgress, known: Known, step: Step, error: unknown): Promise<void> {
    const { outcome, retryAfterMs } = error instanceof SendFailure ? error : new SendFailure('unknown', 'It failed.');
    const waitMs = Math.max(restMs, Math.min(retryAfterMs, maxRestMs));
    known.dueAt = performance.now() + waitMs;
    if (outcome === 'retry') {
      this.freeAt.set(keyOf(row), known.dueAt);
      return;
    }
    if (step.do === 'remove') {
      known.failures += 1;
      if (outcome === 'refused' || known.failures >= maxFailures) await this.gone(row, step.id);
    } else if (step.do === 'post' || outcome === 'refused') {
      // A post that may have arrived is not made again. A message that cannot be edited is removed in its time all the same.
      known.isGivenUp = true;
    }
  }

  private gone(row: ShownProgress, id: string): Promise<void> {
    return this.options.store.unposted(row, row.conversationId, id);
  }

  private forgetBut(able: readonly Held[]): void {
    if (able.length === 0) this.known = new Map();
    const keys = new Set(able.map(({ lease }) => keyOf(lease)));
    this.freeAt = new Map([...this.freeAt].filter(([key, at]) => keys.has(key) && at > performance.now()));
  }
}

const limitsOf = ({ platform, connection }: Held): ProgressLimits | null =>
  connection?.progress === undefined ? null : (platform.limits.progress ?? null);

const conversationKey = (row: ShownProgress): string => JSON.stringify([row.agentId, row.channel, row.conversationId]);
