import { noSpendDefaults } from '@lodge/domain';
import type { SpendDefaults } from '@lodge/domain';
import type {
  AccountStore,
  AgentDirectory,
  AgentLogStore,
  AgentPortStore,
  AgentStore,
  AgentVisitStore,
  ApiKeyChanges,
  ApiKeyStore,
  AuditLog,
  CallBook,
  CallSweeper,
  DataKeyStore,
  IdempotencyStore,
  LimitStore,
  Log,
  SealedValueStore,
  SpendStore,
  UsageStore,
} from '@lodge/engine/ports';
import { PostgresAccountStore } from './accounts.ts';
import { PostgresAgentLogStore } from './agent-logs.ts';
import { PostgresAgentPortStore } from './agent-ports.ts';
import { PostgresAgentVisitStore } from './agent-visits.ts';
import { PostgresAgentStore } from './agents.ts';
import { PostgresApiKeyStore } from './api-keys.ts';
import { PostgresAuditLog } from './audit.ts';
import { Changes } from './changes.ts';
import { awaitingDatabase, openDatabase } from './connection.ts';
import type { DatabaseConfig } from './connection.ts';
import { PostgresIdempotencyStore } from './idempotency.ts';
import { PostgresLimitStore } from './limits.ts';
import { PostgresCallBook } from './llm-calls.ts';
import { PostgresAgentDirectory } from './llm.ts';
import { PostgresSecretStore } from './secrets.ts';
import { PostgresSpendStore } from './spend.ts';
import { PostgresUsageStore } from './usage.ts';

export interface Store {
  readonly agents: AgentStore;
  readonly agentLogs: AgentLogStore;
  readonly agentPorts: AgentPortStore;
  readonly agentVisits: AgentVisitStore;
  readonly accounts: AccountStore;
  readonly apiKeys: ApiKeyStore & ApiKeyChanges;
  readonly audit: AuditLog;
  /** The agents whose VMs are on this host, by its control plane's name (`holder`). */
  directoryOf(host: string): AgentDirectory;
  /** The book in which this process writes the calls of the host's agents. */
  bookOf(host: string): CallBook & CallSweeper;
  readonly usage: UsageStore;
  readonly limits: LimitStore;
  readonly spend: SpendStore;
  readonly idempotency: IdempotencyStore;
  readonly secrets: DataKeyStore & SealedValueStore;
  /** Resolves when the database answers. Tried once: for a health check. */
  ping(): Promise<void>;
  /** Waits for the statements under way. */
  close(): Promise<void>;
}

export interface StoreConfig extends DatabaseConfig {
  readonly log: Log;
  /** None by default. */
  readonly spendDefaults?: SpendDefaults;
}

/** Opens the stores on a migrated database, and listens for changes. Rejects when the database does not answer. */
export async function openStore(config: StoreConfig): Promise<Store> {
  const { spendDefaults = noSpendDefaults } = config;
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
    agents: new PostgresAgentStore(database, changes),
    agentLogs: new PostgresAgentLogStore(database, changes),
    agentPorts: new PostgresAgentPortStore(database),
    agentVisits: new PostgresAgentVisitStore(database),
    accounts: new PostgresAccountStore(database),
    apiKeys: new PostgresApiKeyStore(database, changes),
    audit: new PostgresAuditLog(database),
    directoryOf: (host) => new PostgresAgentDirectory(database, host),
    bookOf: (host) => new PostgresCallBook(database, host, spendDefaults),
    usage: new PostgresUsageStore(database),
    limits: new PostgresLimitStore(database),
    spend: new PostgresSpendStore(database, spendDefaults),
    idempotency: new PostgresIdempotencyStore(database),
    secrets: new PostgresSecretStore(database),
    ping: () => database.ping(),
    close: async () => {
      await changes.close();
      await database.close();
    },
  };
}
