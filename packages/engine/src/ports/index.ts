export * from './images.ts';
export * from './vm-driver.ts';
export * from './runtime.ts';
export * from './agent-store.ts';
export * from './llm.ts';
export * from './secrets.ts';
export * from './access.ts';
export * from './log.ts';
