/**
 * Reads OpenClaw's standard output and error as log lines. Its logger writes JSON (`logging.consoleStyle`), one object a
 * line with `time`, `level`, `subsystem`, `message` and details. A guest of an earlier configuration writes `ISO [subsystem]
 * text`, without a level. Between them are lines that no logger wrote, above all Node's last words.
 *
 * OpenClaw also prints the text of every answer, without a subsystem. That is a conversation, not a log, and is left out.
 */
import type { LogLevel, RuntimeLogLine } from '@lodge/ports';
import { jsonLine, plainLine } from '../log-piece.ts';

const levels: Readonly<Record<string, LogLevel>> = {
  trace: 'debug',
  debug: 'debug',
  info: 'info',
  warn: 'warn',
  error: 'error',
  fatal: 'error',
};

const datedLine = /^(\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})) (.*)$/;

export function logLines(raws: readonly string[]): RuntimeLogLine[] {
  const lines: RuntimeLogLine[] = [];
  let inPlainAnswer = false;
  for (const raw of raws) {
    const line = plainLine(raw);
    if (line === '') continue;
    const entry = jsonEntry(raw) ?? plainEntry(line);
    if (entry !== null) inPlainAnswer = entry === 'plain answer';
    if (entry === null && !inPlainAnswer) lines.push({ at: null, level: 'info', message: line });
    else if (entry !== null && typeof entry !== 'string') lines.push(entry);
  }
  return lines;
}

/** Parses a line in JSON. A long line is parsed whole, because an answer is recognised by its missing fields. */
function jsonEntry(raw: string): RuntimeLogLine | 'answer' | null {
  const fields = jsonLine(raw);
  if (fields === null) return null;
  const { time, level: name, subsystem, message, ...details } = fields;
  const level = typeof name === 'string' ? levels[name] : undefined;
  if (level === undefined || typeof message !== 'string') return null;
  if (typeof subsystem !== 'string' && level === 'info') return 'answer';
  const source = typeof subsystem === 'string' ? `[${subsystem}] ` : '';
  const more = Object.keys(details).length > 0 ? ` ${JSON.stringify(details)}` : '';
  return { at: dateOf(time), level, message: plainLine(`${source}${message}${more}`) };
}

function plainEntry(line: string): RuntimeLogLine | 'plain answer' | null {
  const [, time, message = ''] = datedLine.exec(line) ?? [];
  if (time === undefined) return null;
  return message.startsWith('[') ? { at: dateOf(time), level: 'info', message } : 'plain answer';
}

const maxTimeChars = 40;

function dateOf(time: unknown): Date | null {
  const date = typeof time === 'string' && time.length <= maxTimeChars ? new Date(time) : null;
  return date === null || Number.isNaN(date.getTime()) ? null : date;
}
