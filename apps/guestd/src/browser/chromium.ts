/** One run of Chromium, from its start to its end. */
import { once } from 'node:events';
import { constants } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { hasVariable, killSession, processes, signalProcess, start } from '../processes.ts';
import type { Settings } from '../settings.ts';
import { launchCommand, marker, profileFolder } from './launch.ts';

/** An emulated machine on a busy host takes a minute. */
const startWithinMs = 5 * 60_000;
const pollMs = 100;
/** Chromium writes its profile before it ends. */
const endWithinMs = 20_000;
const keptOutput = 2_000;

/** The address where Chromium listens, as it has written it down. */
export interface Address {
  readonly port: number;
  /** The path of the browser itself. Each run has another one. */
  readonly path: string;
}

export class Chromium {
  /** Resolves once it has ended, with the reason in words. */
  readonly ended: Promise<string>;
  private readonly child: ChildProcess;
  private readonly activePort: string;
  private output = '';
  private hasEnded = false;

  private constructor(child: ChildProcess, activePort: string) {
    this.child = child;
    this.activePort = activePort;
    this.keep(child.stderr);
    this.ended = once(child, 'exit').then(
      ([code, signal]) => this.over(signal === null ? `ended with status ${code}` : `was ended by ${signal}`),
      (error: Error) => this.over(`could not be started (${error.message})`),
    );
  }

  /** Begins a run. No other one may be there, so its locks are those of an earlier one. */
  static async begin(settings: Settings, device: string | null): Promise<Chromium> {
    const argv = await launchCommand(settings, device);
    const profile = `${settings.root}${profileFolder}`;
    const activePort = `${profile}/DevToolsActivePort`;
    const stale = ['SingletonLock', 'SingletonCookie', 'SingletonSocket'].map((name) => `${profile}/${name}`);
    for (const path of [activePort, ...stale]) await rm(path, { force: true });
    const env = { [marker]: profile };
    const child = start(settings, { argv, user: 'root', cwd: '/', env, stdio: ['ignore', 'ignore', 'pipe'] });
    return new Chromium(child, activePort);
  }

  /** Resolves once it listens. Rejects when it ends before, or takes too long. */
  async listening(): Promise<Address> {
    const deadline = performance.now() + startWithinMs;
    while (performance.now() < deadline) {
      if (this.hasEnded) throw new Error(await this.ended);
      const address = await this.address();
      if (address !== null) return address;
      await Promise.race([sleep(pollMs), this.ended]);
    }
    throw new Error(`did not listen within ${startWithinMs / 1000} s`);
  }

  /** Lets it write its profile, and ends all of its processes. */
  async stop(): Promise<void> {
    const { pid } = this.child;
    if (pid !== undefined && !this.hasEnded) {
      signalProcess(pid, 'SIGTERM');
      await Promise.race([this.ended, sleep(endWithinMs, undefined, { ref: false })]);
      killSession(pid);
    }
    await this.ended;
  }

  private over(how: string): string {
    this.hasEnded = true;
    if (this.child.pid !== undefined) killSession(this.child.pid);
    const lines = this.output.trim().split('\n').slice(-3).join('; ');
    return lines === '' ? how : `${how}: ${lines}`.slice(0, 600);
  }

  private keep(stderr: Readable | null): void {
    stderr?.setEncoding('utf8');
    stderr?.on('data', (text: string) => (this.output = (this.output + text).slice(-keptOutput)));
  }

  /** A page that has taken Chromium over may have put anything there. */
  private async address(): Promise<Address | null> {
    try {
      const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
      await using file = await open(this.activePort, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      const { bytesRead, buffer } = await file.read(Buffer.alloc(200), 0, 200, 0);
      const [port = '', path = ''] = buffer.toString('latin1', 0, bytesRead).split('\n');
      return /^\d{1,5}$/.test(port) && /^\/devtools\/browser\/[\w-]{1,100}$/.test(path)
        ? { port: Number(port), path }
        : null;
    } catch {
      return null; // It is not there yet.
    }
  }
}

/** Ends what an earlier daemon has started. */
export async function endStray({ root }: Settings): Promise<void> {
  const variable = `${marker}=${root}${profileFolder}`;
  const leaders = processes().filter((stat) => stat.session === stat.pid && hasVariable(stat.pid, variable));
  for (const { pid } of leaders) signalProcess(pid, 'SIGTERM');
  if (leaders.length > 0) await sleep(1_000);
  for (const { pid } of leaders) killSession(pid);
}
