export * from './deliveries.ts';
export * from './webhooks.ts';
