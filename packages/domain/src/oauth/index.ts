export * from './device.ts';
export * from './names.ts';
export * from './grants.ts';
export * from './redirects.ts';
