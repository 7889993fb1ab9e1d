export { createUsageKeeper } from './usage/keeper.ts';
export { Meter } from './usage/meter.ts';
export * from './agents.ts';
export { createEngine } from './engine.ts';
export type { Engine, EngineDeps } from './engine.ts';
export { createLogCollector } from './logs/collector.ts';
export { defaultBounds } from './reconcile/deps.ts';
export type { StepBounds } from './reconcile/deps.ts';
export type { TemplateProgress } from './templates/templates.ts';
