import type { ChannelName, Json } from '@lodge/domain';
import type { LeaseRef, RelayStore } from '@lodge/ports';
import type { Database, Queries, Transaction } from '../database/database.ts';
import type { Changes } from '../database/notifications.ts';
import { faulted } from './faults.ts';
import { fetched, filesToFetch, unneededFiles } from './files.ts';
import { acquire, lockCurrent, lockHeld, release, renew } from './leases.ts';
import { partsToSend, sendFailed, sending, sendLater, sent, split, working } from './outbox.ts';
import { posted, progress, unposted } from './progress.ts';
import { pruneChannels } from './prune.ts';
import { admits, receive } from './receive.ts';
import { failUnsent } from './unsent.ts';
import { changed, keepSealed } from './states.ts';
import { storableJson } from './text.ts';
import { clearVault, vaultGet, writeVault } from './vault.ts';

/** Makes calls of functions: within a transaction, or as work that may run twice. */
const callsOf = (database: Database) => ({
  within:
    <Given extends readonly unknown[], Result>(work: (trx: Transaction, ...given: Given) => Promise<Result>) =>
    (...given: Given): Promise<Result> =>
      database.transaction((trx) => work(trx, ...given)),
  repeatable:
    <Given extends readonly unknown[], Result>(work: (db: Queries, ...given: Given) => Promise<Result>) =>
    (...given: Given): Promise<Result> =>
      database.repeatable((db) => work(db, ...given)),
});

/** Relays are processes of their own, so this is a port, and each call is one transaction. */
export function relayIn(database: Database, changes: Pick<Changes, 'on'>): RelayStore {
  const { within, repeatable } = callsOf(database);
  return {
    wanted: repeatable(wanted),
    acquire: within(acquire),
    renew: repeatable(renew),
    release: within(release),
    admits: within(admits),
    receive: within(receive),
    moveTo: within(moveTo),
    changed: within(changed),
    faulted: within(faulted),
    keep: within(keepSealed),
    vaultGet: repeatable(vaultGet),
    vaultSet: within(async (trx, lease, values, messages = []) => {
      await lockHeld(trx, lease);
      await writeVault(trx, lease, values);
      if (messages.length > 0) await receive(trx, lease, messages);
    }),
    vaultClear: within(async (trx, lease) => {
      await lockHeld(trx, lease);
      await clearVault(trx, lease);
    }),
    filesToFetch: within(filesToFetch),
    fetched: within(fetched),
    partsToSend: repeatable(partsToSend),
    split: within(split),
    sending: within(sending),
    sent: within(sent),
    sendLater: repeatable(sendLater),
    sendFailed: within(sendFailed),
    working: repeatable(working),
    failUnsent: () => failUnsent(database),
    progress: repeatable(progress),
    posted: within(posted),
    unposted: repeatable(unposted),
    unneededFiles: repeatable(unneededFiles),
    prune: () => pruneChannels(database),
    onWork(listener) {
      const ends = [
        changes.on('channel_work', (agentId) => listener({ agentId, of: 'work' })),
        changes.on('channel_changed', (agentId) => listener({ agentId, of: 'channel' })),
      ];
      return () => {
        for (const end of ends) end();
      };
    },
  };
}

async function wanted(db: Queries): Promise<readonly ChannelName[]> {
  const rows = await db.selectFrom('channels').select('channel').distinct().where('enabled', '=', true).execute();
  return rows.map(({ channel }) => channel);
}

async function moveTo(trx: Transaction, lease: LeaseRef, cursor: Json): Promise<void> {
  await lockCurrent(trx, lease);
  await trx
    .updateTable('channels')
    .set({ cursor: storableJson(cursor) })
    .where('agentId', '=', lease.agentId)
    .where('channel', '=', lease.channel)
    .execute();
}
