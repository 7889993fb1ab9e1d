export * from './agent.ts';
export * from './agent-requests.ts';
export * from './catalogue.ts';
export * from './chat.ts';
export * from './errors.ts';
export * from './scopes.ts';
export * from './text.ts';
