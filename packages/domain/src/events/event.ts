/**
 * The one table of event types. An event is written in the transaction that makes it true. The line of the agent's log, the
 * row of the audit log, the operator's figures and the clients' stream all come from it. A resource's types are in its folder.
 */
import { resourceEvents } from '../resources.ts';
import type { EventData, EventKind, EventLevel } from './kind.ts';
import { lifecycleEvents } from './lifecycle-events.ts';
import { accountEvents, agentRecordEvents, usageEvents } from './record-events.ts';

export const eventTypes = {
  ...lifecycleEvents,
  ...agentRecordEvents,
  ...accountEvents,
  ...usageEvents,
  ...resourceEvents,
} as const;

type Table = typeof eventTypes;
export type EventType = keyof Table;

/** An event: a type of the table with its data. */
export type Happening = {
  readonly [Type in EventType]: {
    readonly type: Type;
    readonly data: Table[Type] extends EventKind<infer Data> ? Data : never;
  };
}[EventType];

const kindOf = (type: EventType): EventKind<EventData> => eventTypes[type] as EventKind<EventData>;

export function levelOf({ type, data }: Happening): EventLevel {
  const { level } = kindOf(type);
  return typeof level === 'function' ? level(data) : level;
}

/** Returns the line of the agent's log, or null when the event has none. */
export function sentenceOf({ type, data }: Happening): string | null {
  return kindOf(type).sentence?.(data) ?? null;
}

/** The types that clients may follow, with their meanings. */
export const publicEvents: ReadonlyMap<EventType, string> = new Map(
  (Object.keys(eventTypes) as EventType[]).flatMap((type) => {
    const { public: meaning } = kindOf(type);
    return meaning === null ? [] : [[type, meaning] as const];
  }),
);
