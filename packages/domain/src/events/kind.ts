/** What the table of events says of each type. */

export type EventLevel = 'info' | 'warn' | 'error';
export type EventValue = string | number | boolean | null | readonly string[];
/** What an event says beside its type, named as the API names it. Never a secret. */
export type EventData = Readonly<Record<string, EventValue | undefined>>;

/** Of a type that says everything. */
export type NoData = Readonly<Record<string, never>>;

export interface EventKind<Data> {
  readonly level: EventLevel | ((data: Data) => EventLevel);
  /** What it means to who follows events, for the reference; null: it is told inside Lodge alone. */
  readonly public: string | null;
  /** The line of the agent's log; null: it has none. */
  readonly sentence: ((data: Data) => string) | null;
}

export const kind = <Data extends EventData>(of: EventKind<Data>): EventKind<Data> => of;

/** Neither in an agent's log nor among the public events: kept for the audit log, and for who counts. */
export const quiet = <Data extends EventData = NoData>(): EventKind<Data> => ({
  level: 'info',
  public: null,
  sentence: null,
});
