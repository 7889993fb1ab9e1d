export * from './lock.ts';
