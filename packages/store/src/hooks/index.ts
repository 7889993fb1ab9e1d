export * from './ends.ts';
export * from './hooks.ts';
export * from './messages.ts';
