export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];
export const logSources = ['system', 'console', 'gateway', 'channel', 'egress'] as const;
export type LogSource = (typeof logSources)[number];

/** A line about to be written. No secret is in it: whoever writes has taken them out. */
export interface NewLogEntry {
  readonly level: LogLevel;
  readonly source: LogSource;
  /** At most `maxLogMessage` characters; longer is cut. */
  readonly message: string;
  /** When it happened; now (database clock) when not given. */
  readonly at?: Date;
}

export const maxLogMessage = 4_000;
/** A line that a guest wrote is cut behind so many characters before anything looks at it. */
export const maxLogLine = 4 * maxLogMessage;

export interface LogEntry {
  /** Rises in the order in which entries of one agent can be seen: who has read up to one misses none below it. */
  readonly id: bigint;
  readonly at: Date;
  readonly level: LogLevel;
  readonly source: LogSource;
  readonly message: string;
}

export interface LogQuery {
  readonly agentId: string;
  readonly limit: number;
  /** Entries after this id (`asc`) or before it (`desc`). */
  readonly from?: bigint;
  readonly direction: 'asc' | 'desc';
  readonly since?: Date;
  readonly until?: Date;
  readonly minLevel?: LogLevel;
  readonly source?: LogSource;
  /** Part of the message, in any case. */
  readonly search?: string;
}

/** Bounds on what is kept of one agent's log. */
export interface LogBounds {
  readonly maxEntries: number;
  /** Of messages, in UTF-8. */
  readonly maxBytes: number;
  readonly maxAgeMs: number;
}

/** Logs of agents, kept beyond the deletion of their VM and, for their account, of the agent itself until they age out. */
export interface AgentLogStore {
  /** One transaction: all of them, in order, or none. */
  append(agentId: string, entries: readonly NewLogEntry[]): Promise<void>;
  page(query: LogQuery): Promise<readonly LogEntry[]>;
  /** Deletes what is over the bounds, oldest first, in steps short enough that no writer waits long. */
  prune(bounds: LogBounds): Promise<void>;
  /** Calls back with an agent's id when its log grew, in any process; null: any may have. */
  onAppend(listener: (agentId: string | null) => void): () => void;
  /** Where the collector of a source is in the guest's log (`offset`), so that a restart neither repeats nor skips. */
  position(
    agentId: string,
    source: LogSource,
  ): Promise<{ readonly executionId: string; readonly offset: number } | null>;
  /** `append` and the new position in one transaction. */
  appendFrom(
    agentId: string,
    source: LogSource,
    position: { readonly executionId: string; readonly offset: number },
    entries: readonly NewLogEntry[],
  ): Promise<void>;
}
