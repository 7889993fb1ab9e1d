export * from './connections.ts';
export * from './copies.ts';
export * from './grants.ts';
export * from './hosts.ts';
export * from './oauth.ts';
