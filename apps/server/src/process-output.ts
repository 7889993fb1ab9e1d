/** The output of a process of Lodge: its log on standard error, its results on standard output. */
import { pino } from 'pino';
import type { Logger } from 'pino';
import { ConfigError } from './config/config.ts';
import type { Config } from './config/config.ts';

/** On a terminal the lines of progress say enough, unless a level was asked for. */
export const processLogLevel = (config: Config, env: NodeJS.ProcessEnv): Config['logLevel'] =>
  process.stderr.isTTY && !env['LODGE_LOG_LEVEL'] ? 'warn' : config.logLevel;

export function processLog(config: Config, env: NodeJS.ProcessEnv): Logger {
  return pino({ level: processLogLevel(config, env), base: null }, pino.destination({ dest: 2, sync: true }));
}

export function configOrExit(read: () => Config): Config {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return exitWith(error.message);
  }
}

export function exitWith(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

export function say(label: string, text: string): void {
  process.stdout.write(`  ${label.padEnd(10)} ${text}\n`);
}
