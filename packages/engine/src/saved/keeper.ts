/**
 * Keeps the snapshots of this host: makes those that agents' plans ask for, deletes those whose time has come, and frees the
 * machines that nobody needs any more. A round takes no input: it looks at rows, clock and host.
 *
 *   row, no machine       the snapshot is damaged
 *   machine, no row       freed, unless it was saved while the round was looking, or an agent's next start begins from it
 *   row that is being saved, and no operation that saves it      failed
 *
 * One of them is read whole every hour, so that rot is found while an older one is still there.
 */
import { randomInt } from 'node:crypto';
import { Refusal, failedSnapshotDays, makeAgentId } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import type { Log, VmDriver } from '@lodge/ports';
import type { Store } from '@lodge/store';
import type { Database } from '@lodge/store/database';
import {
  dueSnapshots,
  findSnapshot,
  keptMachines,
  lockSnapshot,
  oldestAutomatic,
  plannedAgents,
  readySnapshots,
  strandedSaves,
  writeHeldBytes,
  writeSnapshot,
} from '@lodge/store/snapshots';
import type { HeldBytes, SnapshotRow } from '@lodge/store/snapshots';
import type { DiskKeeper } from '../lifecycle/disk/keeper.ts';
import { Rounds } from '../periodic.ts';
import { beginSave } from './begin.ts';
import type { SnapshotBounds } from './place.ts';
import { dropRow, failSave } from './ends.ts';
import { noteDamage } from './usable.ts';

export interface SnapshotKeeperDeps extends Pick<Store, 'changes'> {
  readonly database: Database;
  readonly driver: Pick<VmDriver, 'findSaved' | 'checkSaved' | 'collectSaved'>;
  readonly disk: Pick<DiskKeeper, 'isShort'>;
  readonly log: Log;
  readonly holder: string;
  readonly bounds: SnapshotBounds;
  readonly everyMs: number;
}

/** Saves that a round begins. They take turns at the disk by the gates of the reconcile loop. */
const maxPlansAtATime = 16;
/** After an automatic save that failed or was refused, the agent is left alone for so long. */
const planPauseSeconds = 10 * 60;
const compareEveryMs = 60 * 60_000;
const pageSize = 100;

const rotten = 'a part of it is not as it was saved.';

/** Reads a driver's refusal of one saved machine, which says nothing about the others. */
function damageOf(error: unknown): 'damaged' {
  if (error instanceof VmError && (error.code === 'saved_damaged' || error.code === 'saved_missing')) return 'damaged';
  throw error;
}

export class SnapshotKeeper extends Rounds {
  private readonly deps: SnapshotKeeperDeps;
  private comparedAt = -Infinity;
  /** Agents whose automatic save was refused, and until when they are left alone: those behind them have their turn. */
  private readonly refused = new Map<string, number>();
  /** The snapshot that was read last. */
  private readLast = '';
  private unsubscribe: (() => void) | undefined;
  private collecting: Promise<void> | null = null;

  constructor(deps: SnapshotKeeperDeps) {
    super({ everyMs: deps.everyMs, log: deps.log, failed: 'snapshots not looked after; it will be repeated' });
    this.deps = deps;
  }

  override start(): void {
    super.start();
    this.unsubscribe = this.deps.changes.on('snapshot_gone', () => {
      this.collect().catch((error: unknown) =>
        this.deps.log.warn({ err: error }, 'a deleted snapshot is not freed yet; it will be repeated'),
      );
    });
  }

  override async stop(): Promise<void> {
    this.unsubscribe?.();
    await super.stop();
    await this.collecting?.catch(() => undefined);
  }

  protected async round(signal: AbortSignal): Promise<void> {
    await this.failStranded();
    await this.deleteDue();
    await this.collect();
    await this.savePlanned();
    if (performance.now() - this.comparedAt < compareEveryMs) return;
    await this.compare(signal);
    await this.readOne(signal);
    this.comparedAt = performance.now();
  }

  /** Frees saved machines that nobody needs. */
  private collect(): Promise<void> {
    this.collecting ??= this.collectNow().finally(() => {
      this.collecting = null;
    });
    return this.collecting;
  }

  private async collectNow(): Promise<void> {
    const { database, driver, log } = this.deps;
    const savedBefore = new Date();
    const keep = await database.repeatable(keptMachines);
    const freed = await driver.collectSaved(keep, savedBefore);
    if (freed.length > 0) log.info({ snapshots: freed }, 'saved machines freed');
  }

  private async failStranded(): Promise<void> {
    const { database, holder } = this.deps;
    for (const { accountId, agentId } of await database.repeatable((db) => strandedSaves(db, holder))) {
      await database.transaction(async (trx) => {
        const stranded = await strandedSaves(trx, holder);
        if (!stranded.some((row) => row.agentId === agentId)) return;
        await failSave(trx, { accountId, agentId }, 'The save was cut short.');
      });
    }
  }

  private async deleteDue(): Promise<void> {
    const { database, disk, holder } = this.deps;
    for (const { id, accountId, why } of await database.repeatable((db) =>
      dueSnapshots(db, holder, failedSnapshotDays),
    )) {
      await this.drop(accountId, id, why);
    }
    if (!disk.isShort) return;
    // One each round: the next look says whether that was enough.
    for (const { id, accountId } of await database.repeatable((db) => oldestAutomatic(db, holder, 1))) {
      await this.drop(accountId, id, 'disk');
    }
  }

  private async drop(accountId: string, id: string, why: 'expired' | 'retention' | 'disk'): Promise<void> {
    await this.deps.database.transaction(async (trx) => {
      const row = await lockSnapshot(trx, accountId, id);
      if (row === undefined || row.status === 'saving') return;
      // Its owner has changed it since the look.
      const isKept = why === 'expired' ? row.expiresAt === null || row.expiresAt > new Date() : row.pinned;
      if (!isKept || row.status === 'failed') await dropRow(trx, row, why);
    });
  }

  private async savePlanned(): Promise<void> {
    const { database, disk, holder, bounds, log } = this.deps;
    if (disk.isShort) return;
    const now = performance.now();
    for (const [id, until] of this.refused) if (until <= now) this.refused.delete(id);
    const except = [...this.refused.keys()];
    const look = { host: holder, pauseSeconds: planPauseSeconds, except, limit: maxPlansAtATime };
    for (const { id: agentId, accountId } of await database.repeatable((db) => plannedAgents(db, look))) {
      const place = { accountId, agentId, snapshotId: makeAgentId(randomInt) };
      try {
        await beginSave(
          database,
          place,
          { kind: 'auto', memory: true },
          { cause: 'plan', bounds, isWanted: ({ row, isKeptAwake }) => row.operation === null && !isKeptAwake },
        );
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        if (error.code === 'quota_exceeded') this.refused.set(agentId, now + planPauseSeconds * 1000);
        log.debug({ agent_id: agentId, code: error.code }, 'no automatic snapshot now');
      }
    }
  }

  /** Compares the rows with the host's machines, and samples their disk. */
  private async compare(signal: AbortSignal): Promise<void> {
    const { database, driver, holder } = this.deps;
    for (let after = ''; !signal.aborted;) {
      const rows = await database.repeatable((db) => readySnapshots(db, holder, after, pageSize));
      const held: HeldBytes[] = [];
      for (const row of rows) {
        const found = await driver.findSaved(row.id).catch(damageOf);
        if (found !== 'damaged') held.push({ id: row.id, heldBytes: found?.heldBytes ?? 0 });
        if (found === null) await this.noteDamage(row, 'its machine is not on this host.');
        else if (found === 'damaged') await this.noteDamage(row, rotten);
        else if (found.loads !== row.loads && !(found.loads === 'memory' && !row.memory)) {
          await database.transaction((trx) => writeSnapshot(trx, row.id, { loads: found.loads }));
        }
      }
      await database.transaction((trx) => writeHeldBytes(trx, held));
      if (rows.length < pageSize) return;
      after = rows.at(-1)!.id;
    }
  }

  private async noteDamage({ accountId, id }: SnapshotRow, why: string): Promise<void> {
    const { database } = this.deps;
    // It may have been deleted since the look.
    const still = await database.repeatable((db) => findSnapshot(db, accountId, id));
    if (still !== undefined) await noteDamage(database, still, why);
  }

  /** Reads one snapshot whole. */
  private async readOne(signal: AbortSignal): Promise<void> {
    const { database, driver, holder } = this.deps;
    const [row] = await database.repeatable((db) => readySnapshots(db, holder, this.readLast, 1));
    this.readLast = row?.id ?? '';
    if (row === undefined) return;
    const damage = await driver.checkSaved(row.id, signal).catch(damageOf);
    if (damage !== null) await this.noteDamage(row, rotten);
  }
}
