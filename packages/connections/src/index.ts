export { authorityMaker } from './host/certificates.ts';
export { openConnections } from './parts.ts';
export type { ConnectionOptions, ConnectionParts } from './parts.ts';
