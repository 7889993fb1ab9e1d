export { openConnections } from './parts.ts';
export type { ConnectionOptions, ConnectionParts } from './parts.ts';
