/**
 * A whole Lodge as a child process, for black-box tests: the real `main.ts` (or another entry with the same output) with
 * an instance name, port, network range and data folder of its own, so that several run on one host beside a production one.
 * Images and templates come from the host's shared cache.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { keep } from './keeper.ts';
import type { Keeper } from './keeper.ts';
import { claimNetworkRange } from './network-range.ts';
import { keepCompiledCode, placeCompiledCode } from '@lodge/testkit/compiled-code';
import { placePrograms } from '@lodge/testkit/postgres-programs';

export interface ServiceOptions {
  /** Further LODGE_* variables, or DATABASE_URL. */
  readonly env?: Readonly<Record<string, string>>;
  /** Module to run instead of the server's main. */
  readonly entry?: URL;
  /** A data folder that has something in it; its own by default. Goes with the service, too. */
  readonly dataDir?: string;
  /** Bound until the API answers, in ms. */
  readonly startTimeoutMs?: number;
  /** Fills the data folder before the first start. */
  readonly prepare?: (dataDir: string) => Promise<void>;
}

const mainEntry = new URL('../../../../apps/server/src/main.ts', import.meta.url);
const downEntry = new URL('../../../../apps/server/src/cli/main.ts', import.meta.url);

/** On a slow machine a call takes its time: it waits for its goal, a little less than `fetch` does for a reply. */
const patient = { LODGE_CREATE_WAIT_MS: '280000', LODGE_LIFECYCLE_WAIT_MS: '280000' };

/** Tests ask faster than people do; those of the limits themselves set their own. */
const unlimited = Object.fromEntries(
  ['READS', 'WRITES', 'CREATES', 'CALLS', 'ADDRESS']
    .map((kind) => [`LODGE_RATE_${kind}`, '1000000'])
    .concat([['LODGE_CREATES_AT_ONCE', '1000']]),
);

export class Service {
  readonly dataDir: string;
  readonly instance: string;
  readonly env: NodeJS.ProcessEnv;
  /** Everything it printed, for a failed test's message. */
  output = '';
  baseUrl = '';
  /** The first key; printed by the first start only. */
  apiKey = '';
  private child: ChildProcess | null = null;
  private readonly keeper: Keeper;
  private readonly options: ServiceOptions;

  private constructor(dataDir: string, instance: string, range: string, options: ServiceOptions) {
    this.dataDir = dataDir;
    this.instance = instance;
    this.options = options;
    this.env = {
      ...process.env,
      LODGE_DATA_DIR: dataDir,
      LODGE_INSTANCE: instance,
      LODGE_PORT: '0',
      LODGE_NETWORK_RANGE: range,
      ...unlimited,
      ...patient,
      ...options.env,
    };
    this.keeper = keep(this.downCommand, this.env);
  }

  private get downCommand(): readonly [string, ...string[]] {
    return [process.execPath, fileURLToPath(downEntry), 'down'];
  }

  static async start(options: ServiceOptions = {}): Promise<Service> {
    const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'lodge-test-')));
    // The database and each VM run as users of their own, who must get through.
    await chmod(dataDir, 0o711);
    const instance = `t${randomInt(36 ** 4).toString(36)}`;
    const service = new Service(dataDir, instance, await claimNetworkRange(), options);
    try {
      if (service.env['DATABASE_URL'] === undefined && !options.dataDir) await placePrograms(join(dataDir, 'postgres'));
      if (!options.dataDir) await placeCompiledCode(dataDir);
      await options.prepare?.(dataDir);
      await service.up();
    } catch (error) {
      await service.destroy();
      throw error;
    }
    return service;
  }

  /** Reaches the embedded database, for another Lodge over the same one. */
  get databaseUrl(): string {
    return `postgres://lodge@${encodeURIComponent(join(this.dataDir, 'postgres', 'socket'))}:5432/postgres`;
  }

  get pid(): number {
    if (this.child?.pid === undefined) throw new Error('the service does not run');
    return this.child.pid;
  }

  /** The process without privileges that `pid` has started: HTTP, broker and engine. */
  async controlPlanePid(): Promise<number> {
    const children = await readFile(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8');
    for (const pid of children.trim().split(' ')) {
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      if (command.endsWith('\0control-plane\0')) return Number(pid);
    }
    throw new Error('the service has no control plane');
  }

  /** Starts the process again on the same data. */
  async up(): Promise<void> {
    const entry = fileURLToPath(this.options.entry ?? mainEntry);
    const child = spawn(process.execPath, [entry], { env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    const ready = Promise.withResolvers<void>();
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        this.output += `${line}\n`;
        this.apiKey = /\blodge_live_[0-9A-Za-z]+/.exec(line)?.[0] ?? this.apiKey;
        const url = /^\s*API\s+(http\S+)/.exec(line)?.[1];
        if (!url) return;
        this.baseUrl = url;
        ready.resolve();
      });
    }
    child.once('exit', (code, signal) => ready.reject(new Error(`service ended (${code ?? signal}):\n${this.output}`)));
    const timeoutMs = this.options.startTimeoutMs ?? 300_000;
    const timer = setTimeout(
      () => ready.reject(new Error(`service not up in ${timeoutMs} ms:\n${this.output}`)),
      timeoutMs,
    );
    await ready.promise.finally(() => clearTimeout(timer));
  }

  /** Resolves when the process has ended by itself. */
  async ended(timeoutMs = 120_000): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    await once(child, 'exit', { signal: AbortSignal.timeout(timeoutMs) });
  }

  /** Ends the control plane with `signal` and waits until it is gone. VMs stay. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.child;
    if (!child) return;
    this.child = null;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
    // A process that is killed writes none.
    if (signal === 'SIGTERM') await keepCompiledCode(this.dataDir);
  }

  /** Ends everything of this service, VMs and database too, and removes its data. */
  async destroy(): Promise<void> {
    await this.end('SIGTERM');
    const [program, ...argv] = this.downCommand;
    const down = spawn(program, argv, { env: this.env, stdio: ['ignore', 'ignore', 'inherit'] });
    await once(down, 'exit');
    await rm(this.dataDir, { recursive: true, force: true });
    this.keeper.release();
  }

  /** One request to the API with the first key, JSON in and out. */
  async call(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Reply> {
    const response = await fetch(`${this.baseUrl}${path}`, {
      method,
      headers: { 'x-api-key': this.apiKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Reply['body'] };
  }

  /** Waits until a runtime's template is there, of several the first one or that of this name; building it takes minutes without KVM. */
  async awaitTemplate(timeoutMs: number, runtime = String.raw`\S+`): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    const ready = new RegExp(`Template\\s+${runtime}\\s+ready`);
    while (!ready.test(this.output)) {
      const { exitCode = null, signalCode = null } = this.child ?? {};
      if ((exitCode ?? signalCode) !== null) throw new Error(`it ended (${exitCode ?? signalCode}):\n${this.output}`);
      if (Date.now() > deadline) throw new Error(`no template of ${runtime} in ${timeoutMs} ms:\n${this.output}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // eslint-disable-next-line typescript/no-explicit-any -- a test looks into any reply
  readonly body: any;
}
