import type { AgentDirectory, AgentStore, ApiKeyStore, LlmCallSink, Log } from '@lodge/engine/ports';
import { sql } from 'kysely';
import { PostgresAgentStore } from './agents.ts';
import { PostgresApiKeyStore } from './api-keys.ts';
import { Changes } from './changes.ts';
import { openDatabase } from './connection.ts';
import type { DatabaseConfig } from './connection.ts';
import { PostgresAgentDirectory, PostgresLlmCallSink } from './llm.ts';

export interface Store {
  readonly agents: AgentStore;
  readonly apiKeys: ApiKeyStore;
  readonly directory: AgentDirectory;
  readonly llmCalls: LlmCallSink;
  /** Resolves when the database answers; rejects when it did not, though asked for 5 s. */
  ping(): Promise<void>;
  /** Waits for the statements under way. */
  close(): Promise<void>;
}

/** Opens the stores on a migrated database, and listens for changes. Rejects when the database does not answer. */
export async function openStore(config: DatabaseConfig & { readonly log: Log }): Promise<Store> {
  const database = openDatabase(config, config.log);
  const changes = new Changes(config, config.log);
  const ping = async (): Promise<void> => {
    await database.repeatable((db) => sql`select 1`.execute(db));
  };
  try {
    await ping();
    await changes.start();
  } catch (error) {
    await database.close();
    throw error;
  }
  return {
    agents: new PostgresAgentStore(database, changes),
    apiKeys: new PostgresApiKeyStore(database),
    directory: new PostgresAgentDirectory(database),
    llmCalls: new PostgresLlmCallSink(database),
    ping,
    close: async () => {
      await changes.close();
      await database.close();
    },
  };
}
