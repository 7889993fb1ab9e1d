import type { LogEntry } from '@lodge/sdk';

export type LogLevel = LogEntry['level'];
export type LogSource = LogEntry['source'];

export const levelNames = ['debug', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[];
export const sourceNames = [
  'system',
  'console',
  'gateway',
  'channel',
  'egress',
] as const satisfies readonly LogSource[];

export const levelLabels: Readonly<Record<LogLevel, string>> = {
  debug: 'All levels',
  info: 'Info and worse',
  warn: 'Warnings and errors',
  error: 'Errors only',
};

export const sourceLabels: Readonly<Record<LogSource, string>> = {
  system: 'Lodge',
  console: 'Machine console',
  gateway: 'Runtime',
  channel: 'Channels',
  egress: 'Outgoing traffic',
};

/** Returns a line as text, for copying and for a file. */
export const lineOf = ({ timestamp, level, source, message }: LogEntry): string =>
  `${timestamp} ${level.toUpperCase().padEnd(5)} ${source.padEnd(7)} ${message}`;
