/**
 * Machines that are made to look into snapshots. The host never reads a guest's file system itself: the saved machine is
 * started under an id that is no agent's, without a network, its processes frozen, and its daemon is asked.
 *
 *   use    a machine of that snapshot is there or is made; requests share it
 *   release, 60 s without a use, the end of the machine or of this process      it is ended
 *
 * At most `inAll` exist at once, and `perAccount` of one account. One that nobody uses makes way for another snapshot; else the
 * newcomer waits. No row tells of them: what a kill leaves is removed by the collector of leftovers, which spares those that
 * are known here.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { Refusal, diskLevel, makeAgentId, untilAborted } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import type { GuestAddress, Log, SavedMachine, Template, Vm } from '@lodge/ports';
import { holders } from '@lodge/store/agents';
import type { Database } from '@lodge/store/database';
import type { SnapshotRow } from '@lodge/store/snapshots';
import { checkRoom, hostMemory, withRoom } from '../../agents/capacity.ts';
import type { AgentsDeps } from '../../agents/deps.ts';
import { guestOf } from '../../agents/guest-of.ts';
import type { Endings } from '../../lifecycle/endings.ts';
import { checkUsable, noteDamage } from '../usable.ts';

export interface OpenedBounds {
  readonly inAll: number;
  readonly perAccount: number;
  /** Time without a use after which a machine is ended. */
  readonly idleMs: number;
  /** Longest wait for a place. */
  readonly placeMs: number;
  /** Longest start with memory, and from the disk alone, at pace 1. */
  readonly loadMs: number;
  readonly bootMs: number;
}

const defaultOpenedBounds: OpenedBounds = {
  inAll: 3,
  perAccount: 2,
  idleMs: 60_000,
  placeMs: 20_000,
  loadMs: 120_000,
  bootMs: 300_000,
};

export interface OpenedDeps extends Pick<
  AgentsDeps,
  'driver' | 'memory' | 'relief' | 'held' | 'disk' | 'log' | 'holder'
> {
  readonly database: Database;
  readonly log: Log;
  readonly endings: Pick<Endings, 'remove'>;
  readonly bounds?: Partial<OpenedBounds> | undefined;
}

/** A use of a snapshot's machine. `release` may be called more than once. */
export interface SnapshotUse {
  readonly guest: GuestAddress;
  readonly release: () => void;
}

interface Opened {
  /** The id of its machine. */
  readonly id: string;
  readonly snapshotId: string;
  readonly accountId: string;
  readonly giveUp: AbortController;
  vm: Promise<Vm>;
  users: number;
  idle: NodeJS.Timeout | undefined;
  ending: Promise<void> | null;
}

const retrySeconds = 10;

export class OpenedSnapshots {
  private readonly deps: OpenedDeps;
  private readonly bounds: OpenedBounds;
  /** By snapshot. */
  private readonly opened = new Map<string, Opened>();
  private readonly unsubscribe: () => void;
  private changed = Promise.withResolvers<void>();
  private stopping = false;

  constructor(deps: OpenedDeps) {
    this.deps = deps;
    this.bounds = { ...defaultOpenedBounds, ...deps.bounds };
    this.unsubscribe = deps.driver.onExit(({ agentId }) => {
      for (const one of this.opened.values()) if (one.id === agentId) void this.end(one);
    });
  }

  /** Whether the machine of that id is one of these. */
  has(agentId: string): boolean {
    return this.opened.values().some(({ id }) => id === agentId);
  }

  /** Ends all of them. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.unsubscribe();
    await Promise.all([...this.opened.values()].map((one) => this.end(one)));
  }

  /** The listing that was saved with the snapshot, as its guest gave it; null when none was. */
  async listing(row: SnapshotRow): Promise<string | null> {
    this.checkHere(row);
    try {
      return await this.deps.driver.readListing(row.id);
    } catch (error) {
      throw await this.refusalOf(row, error);
    }
  }

  /**
   * Resolves with the machine of a snapshot. Refuses with `snapshot_not_ready` (it is not saved yet, or still being opened
   * after `timeoutMs`), `snapshot_damaged`, `insufficient_capacity` or `agent_unavailable`.
   */
  async use(row: SnapshotRow, timeoutMs: number, signal: AbortSignal): Promise<SnapshotUse> {
    this.checkHere(row);
    const one = await this.take(row, signal);
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      this.drop(one);
    };
    try {
      const late = AbortSignal.timeout(timeoutMs);
      const vm = await untilAborted(one.vm, AbortSignal.any([signal, late])).catch((error: unknown) => {
        if (late.aborted && error === late.reason) throw notOpen();
        throw error;
      });
      return { guest: guestOf(this.deps.driver, vm), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  private checkHere(row: SnapshotRow): void {
    checkUsable(row);
    if (row.host === null || row.host === this.deps.holder) return;
    throw new Refusal('agent_unavailable', 'This snapshot is on another host of this deployment: ask there.');
  }

  private async take(row: SnapshotRow, signal: AbortSignal): Promise<Opened> {
    const late = AbortSignal.timeout(this.bounds.placeMs);
    for (;;) {
      signal.throwIfAborted();
      if (late.aborted || this.stopping) throw noPlace();
      const there = this.opened.get(row.id);
      if (there !== undefined && there.ending === null) {
        there.users += 1;
        clearTimeout(there.idle);
        return there;
      }
      if (there === undefined) {
        if (this.hasPlace(row.accountId)) return this.begin(row);
        const unused = this.unused(row.accountId);
        if (unused !== undefined) void this.end(unused);
      }
      const either = AbortSignal.any([signal, late]);
      await untilAborted(this.changed.promise, either).catch(() => undefined);
    }
  }

  private hasPlace(accountId: string): boolean {
    return this.opened.size < this.bounds.inAll && this.countOf(accountId) < this.bounds.perAccount;
  }

  private countOf(accountId: string): number {
    return [...this.opened.values()].filter((one) => one.accountId === accountId).length;
  }

  /** The one that makes way for a newcomer of the account. */
  private unused(accountId: string): Opened | undefined {
    const isOwn = this.countOf(accountId) >= this.bounds.perAccount;
    return this.opened
      .values()
      .find((one) => one.users === 0 && one.ending === null && (!isOwn || one.accountId === accountId));
  }

  private begin(row: SnapshotRow): Opened {
    const giveUp = new AbortController();
    const id = makeAgentId(randomInt);
    const vm = this.make(row, id, giveUp.signal);
    const { accountId } = row;
    const one: Opened = { id, snapshotId: row.id, accountId, giveUp, vm, users: 1, idle: undefined, ending: null };
    this.opened.set(row.id, one);
    vm.catch(() => this.end(one));
    return one;
  }

  private async make(row: SnapshotRow, agentId: string, signal: AbortSignal): Promise<Vm> {
    const { driver, log } = this.deps;
    try {
      const saved = await driver.findSaved(row.id);
      if (saved === null) throw new VmError('saved_missing', 'its machine is not on this host');
      const template = await driver.getTemplate(saved.templateId);
      if (template === null) throw new Error(`the template ${saved.templateId} of a snapshot is gone`);
      await this.admit(row);
      return await this.start({ saved, template, agentId }, signal);
    } catch (error) {
      if (!(error instanceof Refusal)) log.warn({ err: error, snapshot_id: row.id }, 'a snapshot was not opened');
      throw await this.refusalOf(row, error);
    }
  }

  /** Starts it with its memory, or its disk when that has none that loads here. */
  private async start(
    {
      saved,
      template,
      agentId,
    }: { readonly saved: SavedMachine; readonly template: Template; readonly agentId: string },
    signal: AbortSignal,
  ): Promise<Vm> {
    const { driver } = this.deps;
    const { loadMs, bootMs } = this.bounds;
    const create = (memory: boolean): Promise<Vm> => {
      const from = { saved: saved.id, memory };
      const egress = { mode: 'none', allow: [] } as const;
      const request = {
        agentId,
        executionId: randomUUID(),
        machine: saved.machine,
        template,
        from,
        egress,
        still: true,
      };
      const late = AbortSignal.timeout((memory ? loadMs : bootMs) * driver.pace);
      return driver.create(request, AbortSignal.any([signal, late]));
    };
    if (saved.loads !== 'memory') return create(false);
    return create(true).catch((error: unknown) => {
      const isUseless = error instanceof VmError && ['snapshot_foreign', 'snapshot_missing'].includes(error.code);
      if (!isUseless) throw error;
      return create(false);
    });
  }

  /** Refuses a machine that does not fit beside the agents. */
  private async admit({ size }: SnapshotRow): Promise<void> {
    const { deps } = this;
    const { database, disk } = deps;
    if (diskLevel(await disk.host()) !== 'ample') {
      throw new Refusal(
        'insufficient_capacity',
        'The host of this deployment is short of disk space. Try again later.',
      );
    }
    await withRoom(deps, async () => {
      checkRoom(deps, await hostMemory(deps), await database.repeatable(holders), size);
    });
  }

  private async refusalOf(row: SnapshotRow, error: unknown): Promise<unknown> {
    if (!(error instanceof VmError)) return error;
    const { code } = error;
    if (code === 'saved_damaged' || code === 'saved_missing') {
      const why = code === 'saved_missing' ? 'Its machine is gone.' : 'Its files are not as they were saved.';
      await noteDamage(this.deps.database, row, why);
      return new Refusal('snapshot_damaged', `The snapshot is damaged: ${why}`, { cause: error });
    }
    if (code === 'no_capacity' || code === 'disk_full') {
      return new Refusal('insufficient_capacity', 'The host has no room to open the snapshot now.', { cause: error });
    }
    return new Refusal('agent_unavailable', 'The snapshot could not be opened. Try again shortly.', {
      cause: error,
      retryAfterSeconds: retrySeconds,
    });
  }

  private drop(one: Opened): void {
    one.users -= 1;
    if (one.users > 0 || one.ending !== null) return;
    one.idle = setTimeout(() => void this.end(one), this.bounds.idleMs);
    one.idle.unref();
    this.tell();
  }

  /** Ends the machine, whoever uses it. Never rejects. */
  private end(one: Opened): Promise<void> {
    clearTimeout(one.idle);
    one.ending ??= this.remove(one);
    return one.ending;
  }

  private async remove(one: Opened): Promise<void> {
    const { endings, log } = this.deps;
    one.giveUp.abort();
    await one.vm.catch(() => undefined);
    try {
      await endings.remove(one.id, { keepDisk: false });
    } catch (error) {
      // It is a leftover from here on.
      log.warn({ err: error, snapshot_id: one.snapshotId }, 'the machine of an opened snapshot was not removed');
    }
    this.opened.delete(one.snapshotId);
    this.tell();
  }

  private tell(): void {
    this.changed.resolve();
    this.changed = Promise.withResolvers();
  }
}

const noPlace = (): Refusal =>
  new Refusal('insufficient_capacity', 'As many snapshots are open on this deployment as can be. Try again shortly.', {
    retryAfterSeconds: retrySeconds,
  });

const notOpen = (): Refusal =>
  new Refusal('snapshot_not_ready', 'The snapshot is still being opened. Try again shortly.', {
    retryAfterSeconds: retrySeconds,
  });
