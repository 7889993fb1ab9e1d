export * from './agent.ts';
export * from './capacity.ts';
export * from './ids.ts';
export * from './model.ts';
export * from './next-step.ts';
export * from './sizes.ts';
