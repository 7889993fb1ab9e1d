/**
 * Ends and starts Lodge for an upgrade: the service of systemd if that runs it, else a child process. Neither owns agents'
 * machines.
 */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { readConfig } from '../../config/config.ts';
import type { Config } from '../../config/config.ts';
import { lockHolder } from '../../host/instance-lock.ts';
import { CommandError } from '../command.ts';
import { endControlPlane } from '../end-control-plane.ts';
import type { RunBy } from './journal.ts';

const run = promisify(execFile);
const unitName = 'lodge.service';
/** A client without a key has 60 requests a minute. */
const pollMs = 2_000;
/** A release that comes up and falls down at once has failed. */
const steadyMs = 4_000;
const askTimeoutMs = 10_000;
const systemctlTimeoutMs = 120_000;
/** The control plane gives itself 30 s to end. */
const endTimeoutMs = 60_000;
const journalLines = '12';

export interface Running {
  /** Resolves when the API answers steadily. Rejects with `CommandError`, which says why it does not. */
  start(timeoutMs: number): Promise<void>;
  /** Stops whatever runs on the data folder. */
  stop(): Promise<void>;
  /** Resolves with the child's exit code once it has ended; at once for a service. */
  ended(): Promise<number>;
}

export interface Ran {
  readonly runBy: RunBy;
  /** The environment that it was started with, or this command's if nothing runs. */
  readonly env: NodeJS.ProcessEnv;
}

/** The person who typed the command need not know the settings of the running Lodge: they are its environment. */
export async function whatRuns(env: NodeJS.ProcessEnv, root: string): Promise<Ran> {
  const servicePid = await pidOfService(root);
  if (servicePid !== null) return { runBy: 'systemd', env: await environmentOf(servicePid) };
  const holder = await lockHolder(readConfig(env).dataDir);
  return holder === null ? { runBy: 'nobody', env } : { runBy: 'hand', env: await environmentOf(holder.pid) };
}

/** Null if no service runs from that folder. */
async function pidOfService(root: string): Promise<number | null> {
  const asked = ['show', '--property=ActiveState,MainPID,WorkingDirectory', unitName];
  const text = await run('systemctl', asked).then(
    ({ stdout }) => stdout,
    () => '',
  );
  const values = new Map(text.split('\n').map((line) => [line.split('=')[0], line.slice(line.indexOf('=') + 1)]));
  if (values.get('WorkingDirectory') !== root) return null;
  const state = values.get('ActiveState');
  if (state === 'inactive' || state === 'failed') return null;
  const pid = Number(values.get('MainPID'));
  if (pid > 0) return pid;
  throw new CommandError(`The service lodge is ${state}: wait until it runs, or end it (systemctl stop lodge).`);
}

async function environmentOf(pid: number): Promise<NodeJS.ProcessEnv> {
  const text = await readFile(`/proc/${pid}/environ`, 'utf8');
  const pairs = text.split('\0').filter((pair) => pair.includes('='));
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
}

export function runningBy(runBy: RunBy, root: string, env: NodeJS.ProcessEnv): Running {
  const config = readConfig(env);
  return runBy === 'systemd' ? asService(config) : asChild(config, root, env);
}

function asService(config: Config): Running {
  return {
    async start(timeoutMs) {
      await run('systemctl', ['reset-failed', unitName]).catch(() => undefined);
      await run('systemctl', ['start', unitName], { timeout: systemctlTimeoutMs });
      await answering(config, timeoutMs, async () => {
        const { stdout } = await run('systemctl', ['show', '--property=ActiveState,NRestarts', unitName]);
        if (!/ActiveState=failed/.test(stdout) && /NRestarts=0\b/.test(stdout)) return;
        throw new CommandError(`The service ended. Its last words:\n${await lastWords()}`);
      });
    },
    async stop() {
      await run('systemctl', ['stop', unitName], { timeout: systemctlTimeoutMs });
      await endHolder(config);
    },
    ended: () => Promise.resolve(0),
  };
}

async function lastWords(): Promise<string> {
  const asked = ['--unit', unitName, '--lines', journalLines, '--output', 'cat', '--no-pager'];
  return run('journalctl', asked).then(
    ({ stdout }) => stdout.trimEnd(),
    () => 'journalctl -u lodge tells them.',
  );
}

/** The child uses the terminal itself, so it outlives this process if that is killed. */
function asChild(config: Config, root: string, env: NodeJS.ProcessEnv): Running {
  let child: ChildProcess | null = null;
  const isAlive = (): boolean => child !== null && child.exitCode === null && child.signalCode === null;
  return {
    async start(timeoutMs) {
      // A killed upgrade may have left a process.
      await endHolder(config);
      child = spawn('bash', [`${root}/scripts/start.sh`], { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
      await answering(config, timeoutMs, () => {
        if (isAlive()) return Promise.resolve();
        throw new CommandError('It ended; its last words are above.');
      });
    },
    async stop() {
      if (isAlive()) {
        const gone = once(child!, 'exit');
        child!.kill('SIGTERM');
        const late = sleep(endTimeoutMs, 'late' as const, { ref: false });
        if ((await Promise.race([gone, late])) === 'late') child!.kill('SIGKILL');
        await gone;
      }
      await endHolder(config);
    },
    async ended() {
      const forward = (signal: NodeJS.Signals): void => void child?.kill(signal);
      process.on('SIGTERM', forward);
      // The terminal has sent the signal to both.
      process.on('SIGINT', () => undefined);
      if (isAlive()) await once(child!, 'exit');
      return child?.exitCode ?? 1;
    },
  };
}

/** Ends the holder, whoever started it. */
async function endHolder({ dataDir }: Config): Promise<void> {
  const holder = await lockHolder(dataDir);
  if (holder !== null) await endControlPlane(holder);
}

/** `check` ends the wait by throwing. */
async function answering(config: Config, timeoutMs: number, check: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  let since: number | null = null;
  for (;;) {
    await check();
    since = (await answers(config)) ? (since ?? performance.now()) : null;
    if (since !== null && performance.now() - since >= steadyMs) return;
    if (performance.now() > deadline) throw new CommandError(`The API did not answer within ${timeoutMs / 1000} s.`);
    await sleep(pollMs);
  }
}

async function answers(config: Config): Promise<boolean> {
  const options = { host: hostOf(config), port: config.port, path: '/v1/health', timeout: askTimeoutMs };
  // The certificate is for the name that clients use.
  const asked =
    config.tlsCert === null ? httpRequest(options) : httpsRequest({ ...options, rejectUnauthorized: false });
  asked.on('timeout', () => asked.destroy(new Error('late')));
  const answer = Promise.withResolvers<number | undefined>();
  asked.on('error', () => answer.resolve(undefined));
  asked.on('response', (reply) => {
    reply.resume();
    answer.resolve(reply.statusCode);
  });
  asked.end();
  const status = await answer.promise;
  // Too many requests from this machine are an answer too.
  return status === 200 || status === 429;
}

/** A server that listens on all addresses is asked on loopback. */
function hostOf({ host }: Config): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
