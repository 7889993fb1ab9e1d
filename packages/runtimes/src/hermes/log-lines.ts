/**
 * Hermes's standard output and error as log lines. Its logger writes `LEVEL logger: message`, its console what a person at a
 * terminal would like to see: of that the frame it draws at its start is left out.
 */
import { stripVTControlCharacters } from 'node:util';
import type { LogLevel, RuntimeLogLine } from '@lodge/ports';

const levels: Readonly<Record<string, LogLevel>> = {
  DEBUG: 'debug',
  INFO: 'info',
  WARNING: 'warn',
  ERROR: 'error',
  CRITICAL: 'error',
};

/** A gateway's token is 64 hexadecimal digits; whatever looks like one goes. */
const tokenLike = /[0-9a-f]{64,}/gi;
const logged = /^(DEBUG|INFO|WARNING|ERROR|CRITICAL) (\S+: .*)$/;
const frame = /^\s*[┌│├└]/u;

export function logLines(text: string): RuntimeLogLine[] {
  const lines: RuntimeLogLine[] = [];
  for (const raw of text.split('\n')) {
    const line = stripVTControlCharacters(raw).trimEnd().replaceAll(tokenLike, '[token]');
    if (line === '' || frame.test(line)) continue;
    const [, level = '', message = line] = logged.exec(line) ?? [];
    lines.push({ at: null, level: levels[level] ?? 'info', message });
  }
  return lines;
}
