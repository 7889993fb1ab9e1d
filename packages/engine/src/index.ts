export * from './agents.ts';
export { createEngine } from './engine.ts';
export type { Engine, EngineDeps } from './engine.ts';
export type { TemplateProgress } from './templates/templates.ts';
