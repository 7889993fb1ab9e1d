export type { Database, Queries, Transaction } from './database.ts';
export { notify } from './notifications.ts';
