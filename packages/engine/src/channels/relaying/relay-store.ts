/** The database as relays ask for it. They are processes of their own, so this is a port, and each call is one transaction. */
import type { Json } from '@lodge/domain';
import type { InboundMessage, LeaseRef, Press, RelayStore } from '@lodge/ports';
import type { Store } from '@lodge/store';
import { relayRows as rows } from '@lodge/store/channels';
import type { Database, Queries, Transaction } from '@lodge/store/database';
import { press } from './pressing.ts';
import type { Answering } from './pressing.ts';
import { admits, receive } from './receiving.ts';
import { sendFailed, sent } from './sending.ts';
import { failUnsent } from './unsent.ts';

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

/** `answering`: decides about answers of people; by default no question is known any more. */
export function createRelayStore(
  { database, changes }: Pick<Store, 'database' | 'changes'>,
  answering?: Answering,
): RelayStore {
  const { within, repeatable } = callsOf(database);
  return {
    wanted: repeatable(rows.wanted),
    acquire: within(rows.acquire),
    renew: repeatable(rows.renew),
    release: within(rows.release),
    admits: within(admits),
    receive: within((trx, lease: LeaseRef, messages: readonly InboundMessage[], cursor?: Json) =>
      receive(trx, lease, messages, { cursor, code: answering?.code }),
    ),
    press: within((trx, lease: LeaseRef, given: Press) => press(trx, lease, given, answering?.take)),
    moveTo: within(async (trx, lease, cursor) => {
      await rows.lockCurrent(trx, lease);
      await rows.writeCursor(trx, lease, cursor);
    }),
    changed: within(rows.changed),
    faulted: within(rows.faulted),
    keep: within(rows.keepSealed),
    vaultGet: repeatable(rows.vaultGet),
    vaultSet: within(async (trx, lease, values, messages = []) => {
      await rows.lockHeld(trx, lease);
      await rows.writeVault(trx, lease, values);
      if (messages.length > 0) await receive(trx, lease, messages, { code: answering?.code });
    }),
    vaultClear: within(async (trx, lease) => {
      await rows.lockHeld(trx, lease);
      await rows.clearVault(trx, lease);
    }),
    filesToFetch: within(rows.filesToFetch),
    fetched: within(rows.fetched),
    partsToSend: repeatable(rows.partsToSend),
    split: within(rows.split),
    sending: within(rows.sending),
    sent: within(sent),
    sendLater: repeatable(rows.sendLater),
    sendFailed: within(sendFailed),
    working: repeatable(rows.working),
    failUnsent: () => failUnsent(database),
    progress: repeatable(rows.progress),
    posted: within(rows.posted),
    unposted: repeatable(rows.unposted),
    unneededFiles: repeatable(rows.unneededFiles),
    prune: () => rows.pruneChannels(database),
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
