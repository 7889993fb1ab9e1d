export * from './confirmations.ts';
export * from './ends.ts';
export type { ConfirmationFacts } from './facts.ts';
export * from './messages.ts';
