/** The description of an event type. */

export type EventLevel = 'info' | 'warn' | 'error';
export type EventValue = string | number | boolean | null | readonly string[];
/** An event's data, with the API's names. It never contains a secret. */
export type EventData = Readonly<Record<string, EventValue | undefined>>;

/** The data of a type that says everything. */
export type NoData = Readonly<Record<string, never>>;

export interface EventKind<Data> {
  readonly level: EventLevel | ((data: Data) => EventLevel);
  /** Its meaning for clients, in the reference; null for types that stay inside Lodge. */
  readonly public: string | null;
  /** Makes the line of the agent's log; null when there is none. */
  readonly sentence: ((data: Data) => string) | null;
}

export const kind = <Data extends EventData>(of: EventKind<Data>): EventKind<Data> => of;

/** A public type without a line in an agent's log: a record of the API is another from here on. */
export const told = <Data extends EventData = NoData>(meaning: string): EventKind<Data> => ({
  level: 'info',
  public: meaning,
  sentence: null,
});

/**
 * A type that is neither in an agent's log nor among the public events, because no record of the API changes with it. The
 * audit log and counters use it.
 */
export const quiet = <Data extends EventData = NoData>(): EventKind<Data> => ({
  level: 'info',
  public: null,
  sentence: null,
});
