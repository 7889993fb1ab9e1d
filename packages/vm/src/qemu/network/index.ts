export * from './host-network.ts';
export * from './check.ts';
