/**
 * Runs the agent's runtime as the image describes it, for ever.
 *
 *   absent      the image has no runtime, or its description is wrong (said in the log)
 *   waiting     its `startWhenExists` file is not there yet, or the host wants it ended
 *   running     started by this daemon, or found running at the daemon's start
 *   pausing     it ended; started again after a pause that doubles, up to a minute, and is short again after a long run
 *
 * A runtime needs minutes to start, so it must outlive a crash of the daemon: it writes to the log file itself, and is found again
 * by a variable in its environment. That the host wants it ended outlives a crash too, in a file that a boot takes away.
 */
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RuntimeService } from '@lodge/guest';
import { systemCode } from './errors.ts';
import { fieldsOf, optional, text, textList, textMap } from './fields.ts';
import type { Journal } from './journal.ts';
import type { LogFile } from './log-file.ts';
import {
  hasVariable,
  isAlive,
  killGroup,
  processStat,
  processes,
  signalProcess,
  start,
  type ProcessStat,
} from './processes.ts';
import type { Settings } from './settings.ts';

const firstPauseMs = 1_000;
const longestPauseMs = 60_000;
/** A runtime that ran this long was not in a crash loop. */
const longRunMs = 5 * 60_000;
const configPollMs = 250;
const adoptedPollMs = 1_000;
const endPollMs = 50;
const marker = 'LODGE_RUNTIME';

export class RuntimeSupervisor {
  private readonly settings: Settings;
  private readonly journal: Journal;
  private readonly log: LogFile;
  private readonly description: string;
  /** There while the runtime shall not run. */
  private readonly off: string;
  private current: ProcessStat | null = null;

  constructor(settings: Settings, journal: Journal, log: LogFile) {
    this.settings = settings;
    this.journal = journal;
    this.log = log;
    this.description = `${settings.root}/etc/lodge/runtime.json`;
    this.off = `${settings.root}/run/lodge/runtime-off`;
  }

  async run(): Promise<void> {
    const service = this.read();
    if (service === null) return;
    this.log.watch();
    await this.adopt();
    let pauseMs = firstPauseMs;
    for (;;) {
      // Nothing may come between the last look and the start: `stop` would find no process, and one would start after it.
      while (!this.isWanted(service)) await sleep(configPollMs);
      const startedAt = performance.now();
      const how = await this.runOnce(service);
      if (existsSync(this.off)) {
        this.journal.info(`runtime ${how}, as the host wanted`);
        continue;
      }
      if (performance.now() - startedAt >= longRunMs) pauseMs = firstPauseMs;
      this.journal.error(`runtime ${how}, next start in ${pauseMs} ms`);
      await sleep(pauseMs);
      pauseMs = Math.min(longestPauseMs, pauseMs * 2);
    }
  }

  start(): void {
    rmSync(this.off, { force: true });
  }

  /** Resolves once the runtime has ended, by itself within `graceMs` or killed then; it stays ended. */
  async stop(graceMs: number): Promise<void> {
    mkdirSync(dirname(this.off), { recursive: true });
    writeFileSync(this.off, '');
    const running = this.current;
    if (running === null) return;
    signalProcess(running.pid, 'SIGTERM');
    const deadline = performance.now() + graceMs;
    while (isAlive(running) && performance.now() < deadline) await sleep(endPollMs);
    killGroup(running.pid);
    while (isAlive(running)) await sleep(endPollMs);
  }

  private isWanted({ startWhenExists }: RuntimeService): boolean {
    if (existsSync(this.off)) return false;
    return startWhenExists === undefined || existsSync(startWhenExists);
  }

  private read(): RuntimeService | null {
    try {
      const fields = fieldsOf(JSON.parse(readFileSync(this.description, 'utf8')));
      const startWhenExists = optional(fields, 'startWhenExists', text);
      return {
        argv: textList(fields, 'argv'),
        cwd: text(fields, 'cwd'),
        env: textMap(fields, 'env'),
        ...(startWhenExists !== undefined && { startWhenExists }),
      };
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') this.journal.error(`${this.description} is not usable`, error);
      return null;
    }
  }

  private async runOnce(service: RuntimeService): Promise<string> {
    const output = openSync(this.log.current, 'a');
    const env = { ...service.env, [marker]: this.description };
    const { argv, cwd } = service;
    const child = start(this.settings, { argv, cwd, env, user: 'agent', stdio: ['ignore', output, output] });
    closeSync(output);
    this.current = child.pid === undefined ? null : processStat(child.pid);
    try {
      if (child.pid !== undefined) this.journal.info(`runtime started as process ${child.pid}`);
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
      return code === null ? `was ended by ${signal}` : `ended with status ${code}`;
    } catch (error) {
      return `could not be started (${systemCode(error) ?? String(error)})`;
    } finally {
      this.current = null;
      if (child.pid !== undefined) killGroup(child.pid);
    }
  }

  /** Waits for the end of a runtime that an earlier daemon started, if there is one. */
  private async adopt(): Promise<void> {
    const found = findRuntime(`${marker}=${this.description}`);
    if (found === null) return;
    this.journal.info(`runtime found running as process ${found.pid}`);
    this.current = found;
    while (isAlive(found)) await sleep(adoptedPollMs);
    this.current = null;
    killGroup(found.pid);
    this.journal.error(`runtime ended (process ${found.pid})`);
  }
}

/** The oldest session leader that has `variable` in its environment: what the runtime starts inherits it, but is younger. */
function findRuntime(variable: string): ProcessStat | null {
  const leaders = processes().filter((stat) => stat.session === stat.pid && hasVariable(stat.pid, variable));
  leaders.sort((a, b) => a.startTime - b.startTime);
  return leaders[0] ?? null;
}
