export * from './connections.ts';
export * from './grants.ts';
export * from './oauth.ts';
