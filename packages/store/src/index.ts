export { openStore } from './store.ts';
export type { Store } from './store.ts';
export type { DatabaseConfig } from './database/connection.ts';
export { migrate, MigrationError } from './database/migrate.ts';
export * from './embedded/index.ts';
