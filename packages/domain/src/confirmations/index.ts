export * from './commands.ts';
export * from './confirmation.ts';
export { matchesGlob } from './glob.ts';
export * from './prompt.ts';
export * from './rules.ts';
