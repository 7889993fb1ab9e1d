export * from './bounds.ts';
export * from './connection.ts';
export * from './paths.ts';
export * from './oauth.ts';
