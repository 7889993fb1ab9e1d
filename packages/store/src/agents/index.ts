export * from './agent-visits.ts';
export * from './lock.ts';
export * from './published-ports.ts';
