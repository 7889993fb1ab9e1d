export * from './keeping.ts';
export * from './snapshots.ts';
