export * from './ports/index.ts';
export * from './agents.ts';
