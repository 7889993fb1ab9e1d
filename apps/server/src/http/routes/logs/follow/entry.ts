import type { LogEntry as LogEntryRecord } from '@lodge/contract';
import type { LogEntry } from '@lodge/ports';

/** The public form of a log entry. */
export const entryRecord = ({ id, at, level, source, message }: LogEntry): LogEntryRecord => ({
  id: String(id),
  timestamp: at.toISOString(),
  level,
  source,
  message,
});
