/** The server that Lodge brings, without the clients of its database, for a process that runs it and queries nothing. */
export { installBinaries } from './binaries.ts';
export { embeddedConnectionString } from './cluster.ts';
export { endEmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';
export type { EmbeddedPostgres, EmbeddedPostgresOptions } from './embedded-postgres.ts';
