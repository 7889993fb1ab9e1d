export * from './telegram/index.ts';
