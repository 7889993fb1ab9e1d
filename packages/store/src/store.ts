import type { SpendDefaults } from '@lodge/domain';
import type {
  AgentDirectory,
  DataKeyStore,
  EventStore,
  IdempotencyStore,
  LimitStore,
  Log,
  MailboxNotices,
  SealedValueStore,
  StoredSizes,
  UsageStore,
} from '@lodge/ports';
import { eventsIn } from './events/events.ts';
import { mailboxNotices } from './channels/mailbox-notices.ts';
import { Changes } from './database/notifications.ts';
import { awaitingDatabase, openDatabase } from './database/connection.ts';
import type { DatabaseConfig } from './database/connection.ts';
import type { Database } from './database/database.ts';
import { storedSizes } from './database/sizes.ts';
import { idempotencyIn } from './http/idempotency.ts';
import { limitsIn } from './http/rate-limits.ts';
import { agentDirectoryIn } from './llm/agent-directory.ts';
import { secretsIn } from './accounts/secrets.ts';
import { usageIn } from './usage/usage.ts';

export interface Store {
  /** For statements of the store's functions. */
  readonly database: Database;
  readonly events: EventStore;
  /**
   * Returns the agents whose VMs are on this host, by its control plane's name (`holder`). `defaults` are the deployment's
   * spend limits; none without them.
   */
  directoryOf(host: string, defaults?: SpendDefaults): AgentDirectory;
  readonly usage: UsageStore;
  readonly limits: LimitStore;
  readonly idempotency: IdempotencyStore;
  readonly secrets: DataKeyStore & SealedValueStore;
  readonly mailboxNotices: MailboxNotices;
  /** Calls back with what changed on a topic in any process, until the returned function is called. */
  readonly changes: Pick<Changes, 'on'>;
  /** Returns the present sizes on the database's disk. */
  readonly sizes: () => Promise<StoredSizes>;
  /** Resolves when the database answers. Tried once, for a health check. */
  ping(): Promise<void>;
  /** Waits for the statements in progress. */
  close(): Promise<void>;
}

export interface StoreConfig extends DatabaseConfig {
  readonly log: Log;
}

/** Opens the stores on a migrated database, and listens for changes. Rejects when the database does not answer. */
export async function openStore(config: StoreConfig): Promise<Store> {
  const database = openDatabase(config, config.log);
  const changes = new Changes(config, config.log);
  try {
    await awaitingDatabase(() => database.ping());
    await changes.start();
  } catch (error) {
    await database.close();
    throw error;
  }
  return {
    database,
    events: eventsIn(database, changes),
    directoryOf: (host, defaults) => agentDirectoryIn(database, host, defaults),
    usage: usageIn(database),
    limits: limitsIn(database),
    idempotency: idempotencyIn(database),
    secrets: secretsIn(database),
    mailboxNotices: mailboxNotices(database, changes),
    changes,
    sizes: () => storedSizes(database),
    ping: () => database.ping(),
    close: async () => {
      await changes.close();
      await database.close();
    },
  };
}
