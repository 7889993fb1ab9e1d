/** The control plane as a process: reads the configuration, says what it does on standard output, ends on a signal. */
import { pino } from 'pino';
import type { RuntimeKind } from '@lodge/domain';
import type { TemplateProgress } from '@lodge/engine';
import type { AgentRuntime } from '@lodge/ports';
import { ConfigError, readConfig, secretVariables } from './config/config.ts';
import type { Config } from './config/config.ts';
import { AlreadyRunningError } from './host/instance-lock.ts';
import { startLodge } from './wire.ts';
import { version } from './version.ts';

/** A second signal, or this long after the first, ends the process as it is: every part survives that. */
const closeTimeoutMs = 30_000;
/** Progress of the same step is said this often at most. */
const progressEveryMs = 15_000;

export interface RunOptions {
  readonly runtimes?: ReadonlyMap<RuntimeKind, AgentRuntime>;
}

export async function runLodge(env: NodeJS.ProcessEnv, options: RunOptions = {}): Promise<void> {
  const config = configOrExit(env);
  // What Lodge starts inherits its environment.
  for (const name of secretVariables) delete env[name];
  const log = pino({ level: logLevel(config, env), base: null }, pino.destination({ dest: 2, sync: true }));
  process.stdout.write(`Lodge ${version}\n`);
  try {
    const lodge = await startLodge(config, { ...options, log, onTemplateProgress: progressPrinter() });
    closeOnSignal(() => lodge.close());
    say('API', lodge.baseUrl);
    say('Data', config.dataDir);
    if (lodge.firstKey) {
      say('API key', `${lodge.firstKey.plaintext}  (all scopes; shown this once)`);
      await lodge.firstKey.shown();
    }
    if (lodge.ownerLink) {
      say('Sign in', `${lodge.ownerLink.url(new URL(lodge.baseUrl).origin)}  (yours for 24 hours; shown this once)`);
      await lodge.ownerLink.shown();
    }
    void lodge.weaknesses.then((weaknesses) => {
      for (const { name, detail, advice } of weaknesses) say('Warning', `${name}: ${detail} (${advice})`);
    });
    await lodge.ready;
  } catch (error) {
    if (!(error instanceof AlreadyRunningError)) log.fatal({ err: error }, 'Lodge did not start');
    exitWith(error instanceof Error ? error.message : String(error));
  }
}

/** On a terminal the lines of progress say enough, unless a level was asked for. */
function logLevel(config: Config, env: NodeJS.ProcessEnv): string {
  return process.stderr.isTTY && !env['LODGE_LOG_LEVEL'] ? 'warn' : config.logLevel;
}

function configOrExit(env: NodeJS.ProcessEnv): Config {
  try {
    return readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return exitWith(error.message);
  }
}

function exitWith(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function say(label: string, text: string): void {
  process.stdout.write(`  ${label.padEnd(10)} ${text}\n`);
}

function closeOnSignal(close: () => Promise<void>): void {
  let closing = false;
  const end = (): void => {
    if (closing) process.exit(130);
    closing = true;
    process.stdout.write('Stopping; the agents go on running (npm run down stops them too).\n');
    setTimeout(() => process.exit(1), closeTimeoutMs).unref();
    void close().then(() => process.exit(0));
  };
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
}

/** Says each step as it begins, and every while how far a long one is. */
function progressPrinter(): (progress: TemplateProgress) => void {
  let lastStep = '';
  let lastAt = 0;
  return (progress) => {
    const now = Date.now();
    // Some steps count their own seconds.
    const step = progress.step.replace(/ \(\d+ s\)$/, '');
    if (step === lastStep && now - lastAt < progressEveryMs) return;
    lastStep = step;
    lastAt = now;
    const seconds = Math.round((now - progress.since.getTime()) / 1000);
    const state =
      progress.state === 'building'
        ? step
        : progress.state === 'failed'
          ? `failed, to be tried again: ${step.split('\n')[0]}`
          : 'ready';
    const percent =
      progress.fraction === null || progress.state !== 'building' ? '' : ` ${Math.round(progress.fraction * 100)} %`;
    say('Template', `${progress.runtime} ${state}${percent}${progress.state === 'building' ? ` (${seconds} s)` : ''}`);
  };
}
