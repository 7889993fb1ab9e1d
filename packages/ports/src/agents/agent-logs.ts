export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];
export const logSources = ['system', 'console', 'gateway', 'channel', 'egress'] as const;
export type LogSource = (typeof logSources)[number];

/** A line about to be written. The writer has removed every secret from it. */
export interface NewLogEntry {
  readonly level: LogLevel;
  readonly source: LogSource;
  /** At most `maxLogMessage` characters; longer is cut. */
  readonly message: string;
  /** The time of the event; the database's time when left out. */
  readonly at?: Date;
}

export const maxLogMessage = 4_000;
/** A line of a guest is cut after this many characters before anything inspects it. */
export const maxLogLine = 4 * maxLogMessage;

export interface LogEntry {
  /**
   * Rises in the order in which entries of one agent become visible. A reader who has read up to one id misses none below
   * it.
   */
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
  /** A part of the message, ignoring case. */
  readonly search?: string;
}

/** Bounds on what is kept of one agent's log. */
export interface LogBounds {
  readonly maxEntries: number;
  /** Bytes of the messages in UTF-8. */
  readonly maxBytes: number;
  readonly maxAgeMs: number;
}

/**
 * Logs of agents, for those who only write them. They outlive the VM, and the account still reads them after the agent's
 * deletion until they age out.
 */
export interface AgentLogWriter {
  /** Appends all entries in order, or none, in one transaction. */
  append(agentId: string, entries: readonly NewLogEntry[]): Promise<void>;
}
