/**
 * The agent's browser: one Chromium, which the first use starts.
 *
 *   off           the owner does not want one: nothing listens
 *   unavailable   the machine's disk has none
 *   idle          it listens, and the next use starts Chromium
 *   starting      Chromium has begun, and uses wait for it
 *   running       until it is put off, nobody has used it for `idleMs`, or it ends by itself
 *   failed        it ended several times soon after its start; a use after a pause tries again
 *
 * That the owner wants one is in a file, which a boot keeps. A Chromium that an earlier daemon has started is ended. While the
 * owner holds the browser, the agent's programs wait. A hold ends by itself, and with Chromium.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import type { BrowserState } from '@lodge/guest';
import { Refusal } from '../errors.ts';
import type { Journal } from '../journal.ts';
import type { LogFile } from '../log-file.ts';
import type { Settings } from '../settings.ts';
import { Chromium, endStray, type Address } from './chromium.ts';
import { browserDevice } from './disk.ts';
import { Door, type Doorway } from './door.ts';

/** A Chromium that ran this long was not in a crash loop. */
const longRunMs = 60_000;
const firstPauseMs = 1_000;
const longestPauseMs = 10 * 60_000;
/** Failures one after another from which on it counts as failed. */
const manyFailures = 3;
const unavailable = 'the browser is not on the disk of this machine yet';

interface Run {
  readonly chromium: Chromium;
  readonly listening: Promise<Address>;
  address: Address | null;
}

export class AgentBrowser implements Doorway {
  readonly port: number;
  private readonly settings: Settings;
  private readonly journal: Journal;
  /** The log that the owner reads. */
  private readonly log: LogFile;
  private readonly wanted: string;
  private readonly door: Door;
  private run: Run | null = null;
  private beginning: Promise<Run> | null = null;
  /** The end of the run before, which still has the profile. */
  private ending: Promise<void> = Promise.resolve();
  private usedAt = 0;
  private heldUntil = 0;
  private hold = Promise.withResolvers<void>();
  private holdTimer: NodeJS.Timeout | undefined;
  private failures = 0;
  private pausedUntil = 0;
  private lastFailure: string | null = null;

  constructor(settings: Settings, journal: Journal, log: LogFile) {
    this.settings = settings;
    this.journal = journal;
    this.log = log;
    this.port = settings.browser.port;
    this.wanted = `${settings.root}/var/lib/lodge/browser`;
    this.hold.resolve();
    this.door = new Door(this);
  }

  /** Goes on where a daemon or a boot before has ended. */
  async resume(): Promise<void> {
    if (!this.isWanted) return;
    this.ending = endStray(this.settings);
    try {
      await this.door.open();
    } catch (error) {
      this.journal.error('the browser is not offered', error);
    }
  }

  async put(isWanted: boolean): Promise<{ readonly available: boolean }> {
    if (isWanted) {
      mkdirSync(dirname(this.wanted), { recursive: true });
      writeFileSync(this.wanted, '');
      await this.door.open();
    } else {
      rmSync(this.wanted, { force: true });
      this.door.close();
      await this.end();
    }
    return { available: await this.isAvailable() };
  }

  async state(): Promise<BrowserState> {
    const left = this.heldUntil - performance.now();
    return { ...(await this.status()), heldForSeconds: left > 0 ? Math.ceil(left / 1_000) : null };
  }

  /** Lets the agent's programs wait for so long, or go on with 0. */
  holdFor(seconds: number): void {
    if (!this.isRunning) throw new Refusal(409, 'no browser runs');
    if (seconds === 0) return this.release();
    if (!this.isHeld) this.hold = Promise.withResolvers<void>();
    this.heldUntil = performance.now() + seconds * 1_000;
    clearTimeout(this.holdTimer);
    this.holdTimer = setTimeout(() => this.release(), seconds * 1_000);
    this.door.hold(true);
  }

  /** Opens a connection to Chromium for the host, which no hold stops. */
  async connect({ start }: { readonly start: boolean }): Promise<Socket> {
    if (!start && !this.isRunning) throw new Refusal(409, 'no browser runs');
    const { port } = await this.use();
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined); // Its close follows.
    await once(socket, 'connect').catch(() => {
      throw new Refusal(409, 'the browser has ended');
    });
    return socket;
  }

  used(): void {
    this.usedAt = performance.now();
  }

  released(): Promise<void> {
    return this.hold.promise;
  }

  get isHeld(): boolean {
    return this.heldUntil > performance.now();
  }

  get isRunning(): boolean {
    return this.run !== null && this.run.address !== null;
  }

  private get isWanted(): boolean {
    return existsSync(this.wanted);
  }

  private async isAvailable(): Promise<boolean> {
    return this.settings.browser.program !== null || (await browserDevice(this.settings.root)) !== null;
  }

  private async status(): Promise<Pick<BrowserState, 'status' | 'message'>> {
    if (!this.isWanted) return { status: 'off', message: null };
    if (this.run !== null) return { status: this.isRunning ? 'running' : 'starting', message: null };
    if (this.beginning !== null) return { status: 'starting', message: null };
    if (!(await this.isAvailable())) return { status: 'unavailable', message: unavailable };
    if (this.failures >= manyFailures) return { status: 'failed', message: this.lastFailure };
    return { status: 'idle', message: null };
  }

  async use(): Promise<Address> {
    if (!this.isWanted) throw new Refusal(409, 'the owner wants no browser');
    this.used();
    if (this.run === null && this.beginning === null) {
      const left = this.pausedUntil - performance.now();
      if (left > 0) {
        throw new Refusal(409, `${this.lastFailure}; next start in ${Math.ceil(left / 1_000)} s`);
      }
      this.beginning = this.begin().finally(() => (this.beginning = null));
    }
    const { listening } = this.run ?? (await this.beginning!);
    return listening;
  }

  private async begin(): Promise<Run> {
    const { settings, journal } = this;
    const device = settings.browser.program === null ? await browserDevice(settings.root) : null;
    if (device === null && settings.browser.program === null) throw new Refusal(409, unavailable);
    await this.ending;
    const startedAt = performance.now();
    const chromium = await Chromium.begin(settings, device);
    const run: Run = { chromium, listening: chromium.listening(), address: null };
    this.run = run;
    run.listening.then(
      (address) => {
        run.address = address;
        this.used();
        journal.info(`the browser listens after ${Math.round(performance.now() - startedAt)} ms`);
      },
      () => chromium.stop(),
    );
    void chromium.ended.then((how) => this.ended(run, how, performance.now() - startedAt));
    this.endIdle(run);
    return run;
  }

  private ended(run: Run, how: string, ranMs: number): void {
    if (this.run !== run) return; // It was ended on purpose.
    this.run = null;
    this.over();
    this.failures = ranMs >= longRunMs ? 1 : this.failures + 1;
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 4 ** (this.failures - 1));
    this.pausedUntil = performance.now() + pauseMs;
    this.lastFailure = `the browser ${how}`.slice(0, 900);
    this.journal.error(this.lastFailure);
    this.log.append(`lodge: ${this.lastFailure}`);
  }

  private async end(): Promise<void> {
    const run = this.run ?? (await this.beginning?.catch(() => null)) ?? null;
    if (run === null) return;
    this.run = null;
    this.over();
    this.ending = run.chromium.stop();
    await this.ending;
  }

  private over(): void {
    this.door.drop();
    this.release();
  }

  private release(): void {
    clearTimeout(this.holdTimer);
    this.heldUntil = 0;
    this.used();
    this.hold.resolve();
    this.door.hold(false);
  }

  private endIdle(run: Run): void {
    const { idleMs } = this.settings.browser;
    const timer = setInterval(
      () => {
        const isIdle = !this.isHeld && performance.now() - this.usedAt >= idleMs;
        if (this.run !== run) clearInterval(timer);
        else if (isIdle && run.address !== null) {
          this.journal.info('the browser was not used and ends');
          void this.end();
        }
      },
      Math.min(idleMs / 4, 30_000),
    );
  }
}
