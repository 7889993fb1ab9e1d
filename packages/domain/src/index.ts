export * from './agent.ts';
export * from './capacity.ts';
export * from './ids.ts';
export * from './sizes.ts';
