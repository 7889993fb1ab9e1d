export * from './device.ts';
export * from './names.ts';
