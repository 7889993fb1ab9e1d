export { openStore } from './store.ts';
export type { Store } from './store.ts';
export type { DatabaseConfig } from './database/connection.ts';
export { migrate, MigrationError } from './database/migrate.ts';
export * from './embedded/index.ts';
export { dumpDatabase, isEmptyDatabase, loadDatabase, replaceDatabase } from './database/dump.ts';
export type { DatabaseFacts, TableText } from './database/dump.ts';
export { accountOf, agentIsRestored, readAgentRows, tablesOfOneAgent, writeAgentRows } from './database/one-agent.ts';
export type { AgentRows } from './database/one-agent.ts';
