export * from './access.ts';
export * from './channel.ts';
export * from './commands.ts';
export * from './prompt.ts';
