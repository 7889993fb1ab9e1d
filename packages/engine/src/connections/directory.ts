/** Connections as the host uses them: it looks them up for each call, renews their grants, and reports what servers did. */
import { connectionBounds } from '@lodge/domain';
import type { ConnectionDirectory, ConnectionGrants } from '@lodge/ports';
import {
  claimGrant,
  countEcho,
  deleteGrant,
  disableConnection,
  enabledConnection,
  enabledConnections,
  lockGrant,
  markAsked,
  markGrantFailed,
  replaceGrant,
} from '@lodge/store/connections';
import type { Database } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';

const echoed =
  "Disabled: answers of the server held this connection's credential. See which requests had them, give another credential, and enable it.";

export const createConnectionDirectory = (database: Database): ConnectionDirectory => ({
  usable: (agentId) => database.repeatable((db) => enabledConnections(db, agentId)),
  usableOne: async (agentId, name) => (await database.repeatable((db) => enabledConnection(db, agentId, name))) ?? null,
  echoed: (of) =>
    database.transaction(async (trx) => {
      const counted = await countEcho(trx, of);
      if (counted === undefined) return;
      const { accountId, count } = counted;
      const { agentId, connection } = of;
      const disabled = count >= connectionBounds.echoesPerHour;
      if (disabled) await disableConnection(trx, of, echoed);
      const event = { type: 'connection.answer_refused', data: { connection, count, disabled } } as const;
      await appendEvent(trx, { ...event, accountId, agentId, by: null });
    }),
});

export const createConnectionGrants = (database: Database): ConnectionGrants => ({
  claim: (of, forMs) =>
    database.transaction(async (trx) => {
      const grant = await lockGrant(trx, of);
      if (grant === undefined) return 'moved';
      if (grant.isClaimed) return 'busy';
      if (grant.waits) return 'later';
      await claimGrant(trx, of, forMs);
      return 'yours';
    }),
  // Repeated after a lost connection, it may find its own write. Nothing is lost then.
  keep: (of, grant) => database.repeatable((db) => replaceGrant(db, of, grant)),
  fail: (of, reason, retryMs) => database.repeatable((db) => markGrantFailed(db, of, reason, retryMs)),
  lose: (of, message) =>
    database.transaction(async (trx) => {
      const { agentId, connection } = of;
      const accountId = await deleteGrant(trx, of, message);
      if (accountId === undefined) return;
      const event = { type: 'connection.consent_needed', data: { connection, message } } as const;
      await appendEvent(trx, { ...event, accountId, agentId, by: null });
    }),
  asked: (of) => database.repeatable((db) => markAsked(db, of)),
});
