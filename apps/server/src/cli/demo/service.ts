/** A Lodge like that of `npm start`, for a command: separate processes, which the command calls like any client. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { CommandError } from '../command.ts';

export interface Service {
  /** With `/v1`. */
  readonly baseUrl: string;
  /** The first key, which a fresh Lodge prints. */
  readonly apiKey: string;
  /** Rejects when the service ends before it is asked to. */
  readonly ended: Promise<never>;
  close(): Promise<void>;
}

const main = join(import.meta.dirname, '../../main.ts');
/** The last of these lines say why it ended. */
const maxErrorLines = 20;

/**
 * Starts it with this environment and waits for its key. Calls `onLine` with each line that it prints. It ends with this
 * process.
 */
export async function startService(env: NodeJS.ProcessEnv, onLine: (line: string) => void): Promise<Service> {
  const argv = ['--pdeathsig=TERM', '--', process.execPath, ...process.execArgv, main];
  const child = spawn('setpriv', argv, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const errors: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    errors.push(line);
    if (errors.length > maxErrorLines) errors.shift();
  });
  let isClosing = false;
  const exit = once(child, 'exit');
  const ended = exit.then(() => {
    if (isClosing) return new Promise<never>(() => undefined);
    throw new CommandError(`Lodge ended by itself:\n${errors.join('\n')}`);
  });
  ended.catch(() => undefined);
  const close = async (): Promise<void> => {
    isClosing = true;
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await exit;
  };
  let baseUrl = '';
  const key = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      baseUrl = /^ {2}API {2,}(http\S+)$/.exec(line)?.[1] ?? baseUrl;
      const apiKey = /^ {2}API key {2,}(\S+)/.exec(line)?.[1];
      if (apiKey !== undefined) resolve(apiKey);
      onLine(line);
    });
  });
  return { apiKey: await Promise.race([key, ended]), baseUrl, ended, close };
}
