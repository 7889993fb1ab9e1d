/**
 * The Postgres that Lodge brings: programs from npm, one server per data folder, reached over a unix socket only.
 *
 *   startEmbeddedPostgres ─> adopt or start ─> up ──process gone──> down ──started again──> up
 *                                               └───────── stop() ─────────┴─────────> stopped
 *
 * The server is its own process in its own session. Each failure leaves this behind:
 *   - our process is killed: the server lives on, and the next start adopts it;
 *   - the server is killed: it is started again here, recovers from its log, and no acknowledged row is lost (fsync is on);
 *   - both are killed: the next start finds a lock file without a server, and starts one;
 *   - killed while the folder is made: a `partial-` folder, removed by the next start.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '@lodge/domain';
import type { Log } from '@lodge/ports';
import { installBinaries } from './binaries.ts';
import type { Binaries } from './binaries.ts';
import {
  connectionStringOf,
  hasAccessRules,
  initialise,
  prepareCluster,
  removeLeftovers,
  writeAccessRules,
} from './cluster.ts';
import type { Cluster } from './cluster.ts';
import { ask, awaitReady, endPostmaster, findPostmaster, isAlive, runsFrom, spawnPostmaster } from './postmaster.ts';
import type { Postmaster } from './postmaster.ts';

export interface EmbeddedPostgresOptions {
  /**
   * Absolute path of a folder for this server alone, used by one process at a time. `user` must be able to pass every folder
   * above. Made when absent.
   */
  readonly dataDir: string;
  /** System user that Postgres runs as when this process is root; otherwise ignored. It should run nothing else. */
  readonly user: string;
  /** A further system user that may log in, when this process is root; ignored when it does not exist. None by default. */
  readonly client?: string;
  readonly log: Log;
}

export interface EmbeddedPostgres {
  /** URL of the server's one database. It contains no secret: only the account of this process can use it. */
  readonly connectionString: string;
  /** Process id of the present server. */
  readonly pid: number;
  /** Calls back each time a server that died is up again. Returns the unsubscribe function. */
  onRestart(listener: () => void): () => void;
  /** Ends the server, after 27 s at the latest. Acknowledged rows are on disk. */
  stop(): Promise<void>;
}

const watchMs = 100;
/** Bound on a start. Recovery after a kill replays up to a gigabyte of log (max_wal_size). */
const readyTimeoutMs = 300_000;
/** An orphan that is silent for this long hangs, and is ended. */
const silentTimeoutMs = 10_000;
const stopTimeoutMs = 20_000;
/** Bound on ending an orphan, which may not answer a signal either. */
const strangerStopTimeoutMs = 2_000;
/**
 * Bound on the processes of a killed server, which need a moment to notice. Until they are gone a new server refuses to
 * start.
 */
const leftoverTimeoutMs = 10_000;
const retries = { firstMs: 50, maxMs: 5_000 };
/** A server that lived this long did not die of an earlier cause. */
const stableMs = 10_000;

/** Starts the server of `dataDir`, or adopts the one that an earlier process left running. Rejects with advice. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const cluster = await prepareCluster(options.dataDir, options.user, options.client ?? null);
  const binaries = await installBinaries(options.dataDir);
  await initialise(cluster, binaries);
  await applyAccessRules(cluster, options.log);
  const supervisor = new Supervisor(cluster, binaries, options.log);
  await supervisor.start();
  await removeLeftovers(options.dataDir, binaries);
  return supervisor;
}

/** Ends the server of `dataDir` that a killed process has left, if there is one. */
export async function endEmbeddedPostgres(dataDir: string): Promise<void> {
  const postmaster = await findPostmaster({ cluster: join(dataDir, 'cluster') });
  if (postmaster) await endPostmaster(postmaster, stopTimeoutMs);
}

/**
 * Writes the access rules, which a server reads at its start. A server with other rules is ended before they are written, so
 * a kill loses neither.
 */
async function applyAccessRules(cluster: Cluster, log: Log): Promise<void> {
  if (await hasAccessRules(cluster)) return;
  const postmaster = await findPostmaster(cluster);
  if (postmaster) {
    log.info({ pid: postmaster.pid }, 'ending a Postgres that lets others log in');
    await endPostmaster(postmaster, stopTimeoutMs);
  }
  await writeAccessRules(cluster);
}

class Supervisor implements EmbeddedPostgres {
  readonly connectionString: string;
  private readonly cluster: Cluster;
  private readonly binaries: Binaries;
  private readonly log: Log;
  private readonly listeners = new Set<() => void>();
  private readonly stopping = new AbortController();
  private postmaster: Postmaster | null = null;
  private watching: Promise<void> = Promise.resolve();

  constructor(cluster: Cluster, binaries: Binaries, log: Log) {
    this.connectionString = connectionStringOf(cluster);
    this.cluster = cluster;
    this.binaries = binaries;
    this.log = log;
  }

  get pid(): number {
    return this.postmaster!.pid;
  }

  async start(): Promise<void> {
    try {
      await this.bringUp();
    } catch (error) {
      if (this.postmaster) await endPostmaster(this.postmaster, stopTimeoutMs);
      throw error;
    }
    this.watching = this.watch();
  }

  onRestart(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.watching;
    if (this.postmaster) await endPostmaster(this.postmaster, stopTimeoutMs);
    this.postmaster = null;
  }

  /** Restarts the server whenever it is gone, until `stop`, after a delay that grows while starts fail. */
  private async watch(): Promise<void> {
    const { signal } = this.stopping;
    let failures = 0;
    let upSince = performance.now();
    while (await this.pause(watchMs)) {
      if (this.postmaster && (await isAlive(this.postmaster))) continue;
      if (performance.now() - upSince > stableMs) failures = 0;
      failures += 1;
      const retryMs = backoffMs(retries, failures);
      this.log.warn({ pid: this.postmaster?.pid }, 'Postgres is gone; starting it again');
      try {
        await this.bringUp();
        upSince = performance.now();
        this.log.info({ pid: this.postmaster?.pid }, 'Postgres is up again');
        for (const listener of this.listeners) listener();
      } catch (error) {
        if (signal.aborted) return;
        this.log.error({ err: error, retry_ms: retryMs }, 'Postgres could not be started');
        // The next round would take a server that runs and never got ready for a good one.
        if (this.postmaster) await endPostmaster(this.postmaster, stopTimeoutMs).catch(() => undefined);
      }
      await this.pause(retryMs);
    }
  }

  /** Adopts or starts a server, and waits until it is ready. */
  private async bringUp(): Promise<void> {
    const began = performance.now();
    const { signal } = this.stopping;
    this.postmaster = await this.adopt();
    if (this.postmaster) {
      this.log.info({ pid: this.postmaster.pid }, 'adopted a running Postgres');
      return;
    }
    for (let tries = 1; ; tries += 1) {
      try {
        this.postmaster = await spawnPostmaster(this.cluster, this.binaries);
        await awaitReady(this.cluster, this.postmaster, readyTimeoutMs, signal);
        return;
      } catch (error) {
        const leftover = /pre-existing shared memory block/.test((error as Error).message);
        if (!leftover || performance.now() - began > leftoverTimeoutMs) throw error;
        await sleep(backoffMs(retries, tries), undefined, { signal });
      }
    }
  }

  /** Returns the server on the cluster if it is of this release and answers. Any other one is ended. */
  private async adopt(): Promise<Postmaster | null> {
    const postmaster = await findPostmaster(this.cluster);
    if (!postmaster) return null;
    if ((await runsFrom(postmaster, this.binaries)) && (await this.answers(postmaster))) return postmaster;
    if (await isAlive(postmaster)) {
      this.log.warn({ pid: postmaster.pid }, 'ending a Postgres of another release, or one that does not answer');
      await endPostmaster(postmaster, strangerStopTimeoutMs);
    }
    return null;
  }

  private async answers(postmaster: Postmaster): Promise<boolean> {
    const began = performance.now();
    while (await isAlive(postmaster)) {
      const state = await ask(this.cluster);
      if (state === 'ready') return true;
      const boundMs = state === 'starting' ? readyTimeoutMs : silentTimeoutMs;
      if (performance.now() - began > boundMs) return false;
      await sleep(watchMs, undefined, { signal: this.stopping.signal });
    }
    return false;
  }

  /** False when the service stops meanwhile. Does not keep the process alive. */
  private pause(ms: number): Promise<boolean> {
    return sleep(ms, true, { signal: this.stopping.signal, ref: false }).catch(() => false);
  }
}
