/**
 * Keeps agents awake from this process: one lease per agent in the database, however many users share it. The users are
 * counted here. Leases run out by themselves when the process dies.
 */
import type { Log } from '@lodge/ports';
import { endKeepAwake, prolongKeepAwake, takeKeepAwake } from '@lodge/store/agents';
import type { AgentRow } from '@lodge/store/agents';
import type { Database } from '@lodge/store/database';

const ttlMs = 15_000;
const prolongEveryMs = 5_000;

interface Lease {
  count: number;
  /**
   * The last change of the lease in the database that is in progress. The next one waits for it, or a release could remove a
   * new lease.
   */
  tail: Promise<void> | null;
}

export class KeepAwakeLeases {
  private readonly database: Database;
  private readonly log: Log;
  /** Names one process: two servers of one host have separate leases. */
  private readonly holder: string;
  private readonly leases = new Map<string, Lease>();
  /** The renewal in progress: it would undo a release that came before its end. */
  private prolonging: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;

  constructor(database: Database, log: Log, holder: string) {
    this.database = database;
    this.log = log;
    this.holder = holder;
  }

  start(): void {
    this.timer = setInterval(() => this.prolongKeepAwake(), prolongEveryMs);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /**
   * Adds a user and returns the agent once it is kept awake. Returns null when there is no such agent. Then there is no
   * lease, and neither is there one when it rejects.
   */
  async take(id: string, options: { readonly turn?: boolean } = {}): Promise<AgentRow | null> {
    const entry = this.entry(id);
    entry.count += 1;
    try {
      if (entry.tail) await entry.tail;
      const row = await takeKeepAwake(this.database, id, this.holder, ttlMs, options);
      if (row === null) this.drop(id);
      return row;
    } catch (error) {
      this.drop(id);
      throw error;
    }
  }

  /** Adds a user without a look at the agent. */
  join(id: string): void {
    const entry = this.entry(id);
    entry.count += 1;
    if (entry.count > 1) return;
    this.after(id, entry, async () => {
      await takeKeepAwake(this.database, id, this.holder, ttlMs);
    });
  }

  /** Removes a user. */
  drop(id: string): void {
    const entry = this.leases.get(id);
    if (!entry || entry.count === 0) return;
    entry.count -= 1;
    if (entry.count > 0) return;
    this.after(id, entry, async () => {
      await this.prolonging;
      // If a user came meanwhile, the lease is theirs.
      if (entry.count === 0) await endKeepAwake(this.database, id, this.holder);
    });
  }

  private after(id: string, entry: Lease, change: () => Promise<void>): void {
    const tail = (entry.tail ?? Promise.resolve())
      .then(change)
      .catch((error: unknown) =>
        this.log.warn({ err: error, agent_id: id }, 'keep-awake lease not changed; it will run out'),
      )
      .then(() => {
        if (entry.tail !== tail) return;
        entry.tail = null;
        if (entry.count === 0) this.leases.delete(id);
      });
    entry.tail = tail;
  }

  private entry(id: string): Lease {
    const there = this.leases.get(id);
    if (there) return there;
    const fresh: Lease = { count: 0, tail: null };
    this.leases.set(id, fresh);
    return fresh;
  }

  private prolongKeepAwake(): void {
    const ids = [...this.leases].filter(([, { count }]) => count > 0).map(([id]) => id);
    if (ids.length === 0) return;
    this.prolonging = prolongKeepAwake(this.database, ids, this.holder, ttlMs).catch((error: unknown) =>
      this.log.warn({ err: error }, 'keep-awake leases not prolonged; it will be repeated'),
    );
  }
}
