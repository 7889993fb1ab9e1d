export { openStore } from './store.ts';
export type { Store } from './store.ts';
export type { DatabaseConfig } from './database/connection.ts';
export { migrate, MigrationError } from './database/migrate.ts';
export { installBinaries } from './embedded/binaries.ts';
export { embeddedConnectionString } from './embedded/cluster.ts';
export { startEmbeddedPostgres } from './embedded/embedded-postgres.ts';
export type { EmbeddedPostgres, EmbeddedPostgresOptions } from './embedded/embedded-postgres.ts';
