export * from './accounts.ts';
export * from './attempts.ts';
export * from './keys.ts';
export * from './links.ts';
export * from './sessions.ts';
export * from './oauth/clients.ts';
export * from './oauth/devices.ts';
export * from './oauth/grants.ts';
