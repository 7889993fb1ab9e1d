export * from './hooks.ts';
export * from './messages.ts';
