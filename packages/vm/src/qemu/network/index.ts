export * from './host-network.ts';
export * from './check.ts';
export { narrowTable } from './connection-share.ts';
export * from './keeper.ts';
export { asUser } from './resolver/names-process.ts';
export type { Unprivileged } from './resolver/names-process.ts';
export type { NetworkOptions } from './plan.ts';
