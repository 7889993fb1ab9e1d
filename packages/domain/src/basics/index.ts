export * from './backoff.ts';
export * from './bounded-json.ts';
export * from './if-there.ts';
export * from './json-budget.ts';
export * from './named-error.ts';
export * from './waits.ts';
