import { NamedError } from '@lodge/domain';
import { pino } from 'pino';
import type { Log } from '@lodge/ports';

/** A command: its arguments and the environment in, the process' exit code out. */
export type Command = (args: string[], env: NodeJS.ProcessEnv) => Promise<number>;

/** A command that cannot do what it was asked to; the message says why and what to do about it. */
export class CommandError extends NamedError {}

/** The log of a command: problems go to standard error, and everything from LODGE_LOG_LEVEL up when that is set. */
export function commandLog(env: NodeJS.ProcessEnv): Log {
  return pino({ level: env['LODGE_LOG_LEVEL'] || 'warn', base: null }, pino.destination({ dest: 2, sync: true }));
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
