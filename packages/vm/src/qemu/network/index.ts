export * from './host-network.ts';
export * from './check.ts';
export * from './keeper.ts';
export type { NetworkOptions } from './plan.ts';
