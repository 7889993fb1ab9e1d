/**
 * The events of an agent and the calls of its models, in time.
 *
 * The API does not say for whom a model call was made. A call that began while a message, a run of a schedule or a message of a
 * hook was being answered is shown with that. Others that follow each other closely are one item: a chat, or work of the
 * agent's own.
 */
import type { LlmCall, LodgeEvent } from '@lodge/sdk';
import { wordsOf } from './event-words.ts';
import type { EventWords } from './event-words.ts';
import type { ActivityKind } from './kinds.ts';

export interface EventItem {
  readonly type: 'event';
  readonly at: string;
  readonly event: LodgeEvent;
  readonly words: EventWords;
  /** How long the answer took. */
  readonly tookMs: number | null;
  /** Calls that began meanwhile, oldest first. */
  readonly calls: readonly LlmCall[];
}

export interface WorkItem {
  readonly type: 'work';
  readonly at: string;
  readonly calls: readonly LlmCall[];
}

export type Item = EventItem | WorkItem;

/** Calls that follow each other within this time are of one piece of work. */
const pauseMs = 30_000;
/** Clocks of rows and events differ by the time of a write. */
const slackMs = 1000;

const turnEnds: ReadonlySet<string> = new Set(['message.answered', 'schedule.ran', 'schedule.failed', 'hook.answered']);

const startOf = ({ started_at: at }: LlmCall): number => Date.parse(at);
const endOf = (call: LlmCall): number => startOf(call) + (call.duration_ms ?? 0);

/** Merges both lists, newest first. */
export function timelineOf(events: readonly LodgeEvent[], calls: readonly LlmCall[]): readonly Item[] {
  const left = new Set(calls);
  const items: Item[] = [];
  // A short answer within a long one has its calls for itself.
  const byLength = [...events].sort((a, b) => durationOf(a) - durationOf(b));
  for (const event of byLength) {
    const tookMs = turnEnds.has(event.type) ? durationOf(event) : 0;
    const end = Date.parse(event.created_at);
    const own = tookMs === 0 ? [] : [...left].filter((call) => isWithin(call, end - tookMs, end));
    for (const call of own) left.delete(call);
    items.push({
      type: 'event',
      at: event.created_at,
      event,
      words: wordsOf(event),
      tookMs: tookMs === 0 ? null : tookMs,
      calls: own.toReversed(),
    });
  }
  items.push(...burstsOf([...left]));
  return items.sort((a, b) => Date.parse(b.at) - Date.parse(a.at) || idOf(b) - idOf(a));
}

const idOf = (item: Item): number => (item.type === 'event' ? Number(item.event.id) || 0 : 0);

const isWithin = (call: LlmCall, from: number, to: number): boolean =>
  startOf(call) >= from - slackMs && startOf(call) <= to + slackMs;

function durationOf({ data }: LodgeEvent): number {
  const ms = data['duration_ms'];
  return typeof ms === 'number' && ms > 0 ? ms : 0;
}

/** `calls` are newest first. */
function burstsOf(calls: readonly LlmCall[]): readonly WorkItem[] {
  const bursts: LlmCall[][] = [];
  for (const call of [...calls].sort((a, b) => startOf(a) - startOf(b))) {
    const last = bursts.at(-1);
    const previous = last?.at(-1);
    if (last === undefined || previous === undefined || startOf(call) - endOf(previous) > pauseMs) bursts.push([call]);
    else last.push(call);
  }
  return bursts.map((burst) => ({ type: 'work', at: burst.at(-1)?.started_at ?? '', calls: burst }));
}

export function isOfKind(item: Item, kind: ActivityKind | undefined): boolean {
  if (kind === undefined) return true;
  if (item.type === 'work') return kind === 'turns';
  return item.words.kind === kind || (kind === 'turns' && item.calls.length > 0);
}

interface Loaded {
  /** The time of the oldest entry that is loaded. */
  readonly oldest: string | undefined;
  readonly hasMore: boolean;
}

/** The time from which on both lists are whole; undefined: from the beginning on. */
export function horizonOf(lists: readonly Loaded[]): string | undefined {
  return lists
    .flatMap(({ oldest, hasMore }) => (hasMore && oldest !== undefined ? [oldest] : []))
    .sort((a, b) => Date.parse(a) - Date.parse(b))
    .at(-1);
}
