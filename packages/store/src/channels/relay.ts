import type { ChannelName, Json } from '@lodge/domain';
import { LeaseLost } from '@lodge/ports';
import type { ConnectionState, FileToFetch, InboundMessage, LeaseRef, RelayStore } from '@lodge/ports';
import { sql } from 'kysely';
import type { Database } from '../database/connection.ts';
import type { Changes } from '../database/notifications.ts';
import { faulted } from './faults.ts';
import { fetched, filesToFetch, unneededFiles } from './files.ts';
import { acquire, holds, lockCurrent, lockHeld, release, renew } from './leases.ts';
import { partsToSend, sendFailed, sending, sendLater, sent, split, working } from './outbox.ts';
import { posted, progress, unposted } from './progress.ts';
import { pruneChannels } from './prune.ts';
import { admits, receive } from './receive.ts';
import { failUnsent } from './unsent.ts';
import { changed, clearVault, keepSealed, writeVault } from './states.ts';
import type { VaultValue } from './states.ts';
import { storableJson } from './text.ts';

/** Most bytes of sealed values returned at once, because they are held whole. */
const maxVaultBytes = 16 * 2 ** 20;

/** `RelayStore` in Postgres. */
export class PostgresRelayStore implements RelayStore {
  private readonly database: Database;
  private readonly changes: Changes;

  constructor(database: Database, changes: Changes) {
    this.database = database;
    this.changes = changes;
  }

  async wanted(): Promise<readonly ChannelName[]> {
    const rows = await this.database.repeatable((db) =>
      db.selectFrom('channels').select('channel').distinct().where('enabled', '=', true).execute(),
    );
    return rows.map(({ channel }) => channel);
  }

  acquire(options: Parameters<RelayStore['acquire']>[0]): ReturnType<RelayStore['acquire']> {
    return acquire(this.database, options);
  }

  renew(leases: readonly LeaseRef[], leaseMs: number): ReturnType<RelayStore['renew']> {
    return renew(this.database, leases, leaseMs);
  }

  release(lease: LeaseRef): Promise<void> {
    return release(this.database, lease);
  }

  admits(lease: LeaseRef, message: Parameters<RelayStore['admits']>[1]): Promise<boolean> {
    return this.database.transaction((trx) => admits(trx, lease, message));
  }

  async receive(lease: LeaseRef, messages: readonly InboundMessage[], cursor?: Json): Promise<void> {
    await this.database.transaction((trx) => receive(trx, lease, messages, cursor));
  }

  async moveTo(lease: LeaseRef, cursor: Json): Promise<void> {
    await this.database.transaction(async (trx) => {
      await lockCurrent(trx, lease);
      await trx
        .updateTable('channels')
        .set({ cursor: storableJson(cursor) })
        .where('agent_id', '=', lease.agentId)
        .where('channel', '=', lease.channel)
        .execute();
    });
  }

  changed(
    lease: LeaseRef,
    state: ConnectionState,
    sealedCode: string | null,
    accountKey?: string,
  ): Promise<boolean | 'conflict'> {
    return changed(this.database, lease, state, sealedCode, accountKey);
  }

  faulted(lease: LeaseRef): Promise<void> {
    return faulted(this.database, lease);
  }

  async keep(lease: LeaseRef, sealed: Readonly<Record<string, string>>): Promise<void> {
    await this.database.transaction((trx) => keepSealed(trx, lease, sealed));
  }

  async vaultGet(lease: LeaseRef, type: string, ids: readonly string[]): Promise<Readonly<Record<string, string>>> {
    const wanted = sql`
      v.agent_id = ${lease.agentId} and v.channel = ${lease.channel} and v.type = ${type} and v.id = any(${ids}::text[])
    `;
    const { rows } = await this.database.repeatable((db) =>
      sql<{ values: Record<string, string> | null; bytes: number }>`
        select (
          select json_object_agg(v.id, v.sealed) from channel_vault v where ${wanted} and b.bytes <= ${maxVaultBytes}
        ) as values, b.bytes
        from channels c
        cross join (select coalesce(sum(octet_length(v.sealed)), 0)::float8 as bytes from channel_vault v where ${wanted}) b
        where ${holds(lease)}
      `.execute(db),
    );
    const [row] = rows;
    // A holder with a successor would continue with used keys.
    if (row === undefined) throw new LeaseLost();
    if (row.bytes > maxVaultBytes) throw new RangeError(`these values have more than ${maxVaultBytes} bytes`);
    return row.values ?? {};
  }

  async vaultSet(
    lease: LeaseRef,
    values: readonly VaultValue[],
    messages: readonly InboundMessage[] = [],
  ): Promise<void> {
    await this.database.transaction(async (trx) => {
      await lockHeld(trx, lease);
      await writeVault(trx, lease, values);
      if (messages.length > 0) await receive(trx, lease, messages);
    });
  }

  async vaultClear(lease: LeaseRef): Promise<void> {
    await this.database.transaction(async (trx) => {
      await lockHeld(trx, lease);
      await clearVault(trx, lease);
    });
  }

  filesToFetch(...args: Parameters<RelayStore['filesToFetch']>): Promise<readonly FileToFetch[]> {
    return filesToFetch(this.database, ...args);
  }

  fetched(...args: Parameters<RelayStore['fetched']>): Promise<void> {
    return fetched(this.database, ...args);
  }

  partsToSend(leases: readonly LeaseRef[], limit: number): ReturnType<RelayStore['partsToSend']> {
    return partsToSend(this.database, leases, limit);
  }

  split(...args: Parameters<RelayStore['split']>): Promise<void> {
    return split(this.database, ...args);
  }

  sending(lease: LeaseRef, partId: string): Promise<boolean> {
    return sending(this.database, lease, partId);
  }

  sent(lease: LeaseRef, partId: string, platformId: string): Promise<string | null> {
    return sent(this.database, lease, partId, platformId);
  }

  sendLater(...args: Parameters<RelayStore['sendLater']>): Promise<void> {
    return sendLater(this.database, ...args);
  }

  sendFailed(...args: Parameters<RelayStore['sendFailed']>): Promise<void> {
    return sendFailed(this.database, ...args);
  }

  working(leases: readonly LeaseRef[]): ReturnType<RelayStore['working']> {
    return working(this.database, leases);
  }

  failUnsent(): Promise<void> {
    return failUnsent(this.database);
  }

  progress(leases: readonly LeaseRef[]): ReturnType<RelayStore['progress']> {
    return progress(this.database, leases);
  }

  posted(...args: Parameters<RelayStore['posted']>): Promise<boolean> {
    return posted(this.database, ...args);
  }

  unposted(...args: Parameters<RelayStore['unposted']>): Promise<void> {
    return unposted(this.database, ...args);
  }

  unneededFiles(keys: readonly string[]): Promise<readonly string[]> {
    return unneededFiles(this.database, keys);
  }

  prune(): Promise<void> {
    return pruneChannels(this.database);
  }

  onWork(listener: Parameters<RelayStore['onWork']>[0]): () => void {
    const ends = [
      this.changes.on('channel_work', (agentId) => listener({ agentId, of: 'work' })),
      this.changes.on('channel_changed', (agentId) => listener({ agentId, of: 'channel' })),
    ];
    return () => {
      for (const end of ends) end();
    };
  }
}
