export * from './fields.ts';
export * from './peers.ts';
export * from './tools.ts';
