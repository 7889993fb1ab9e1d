export * from './host-network.ts';
export * from './check.ts';
export { narrowTable } from './connection-share.ts';
export * from './keeper.ts';
export type { NetworkOptions } from './plan.ts';
