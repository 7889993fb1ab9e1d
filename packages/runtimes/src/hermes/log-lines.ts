/**
 * Reads Hermes's standard output and error as log lines. Its logger writes `LEVEL logger: message`. Its console writes text
 * for a person at a terminal; the frame that it draws at its start is left out.
 */
import type { LogLevel, RuntimeLogLine } from '@lodge/ports';
import { plainLine } from '../log-piece.ts';

const levels: Readonly<Record<string, LogLevel>> = {
  DEBUG: 'debug',
  INFO: 'info',
  WARNING: 'warn',
  ERROR: 'error',
  CRITICAL: 'error',
};

const logged = /^(DEBUG|INFO|WARNING|ERROR|CRITICAL) (\S+: .*)$/;
const frame = /^\s*[┌│├└]/u;

export function logLines(raws: readonly string[]): RuntimeLogLine[] {
  const lines: RuntimeLogLine[] = [];
  for (const raw of raws) {
    const line = plainLine(raw);
    if (line === '' || frame.test(line)) continue;
    const [, level = '', message = line] = logged.exec(line) ?? [];
    lines.push({ at: null, level: levels[level] ?? 'info', message });
  }
  return lines;
}
