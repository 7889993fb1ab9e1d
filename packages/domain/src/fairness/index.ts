export * from './fair-gate.ts';
export * from './loop-share.ts';
export * from './places.ts';
export * from './shares.ts';
export * from './stalled-reply.ts';
