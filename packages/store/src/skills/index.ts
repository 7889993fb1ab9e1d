export * from './skills.ts';
export * from './versions.ts';
