export type { Database, Queries, Transaction } from './database.ts';
export { databaseTime } from './time.ts';
export { notify } from './notifications.ts';
export { isUniqueViolation } from './unique-violation.ts';
