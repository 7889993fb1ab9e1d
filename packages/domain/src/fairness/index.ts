export * from './loop-share.ts';
export * from './shares.ts';
