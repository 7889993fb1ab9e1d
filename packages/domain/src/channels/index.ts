export * from './access.ts';
export * from './account.ts';
export * from './channel.ts';
export * from './commands.ts';
export * from './outbound.ts';
export * from './pairing.ts';
export * from './prompt.ts';
export { InboundBatch, inboundBounds } from './inbound.ts';
export type { KnownOfSenders } from './inbound.ts';
