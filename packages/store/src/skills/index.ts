export * from './agent-skills.ts';
export * from './skills.ts';
export * from './versions.ts';
