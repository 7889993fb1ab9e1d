import type { StoredResource } from '../database/stored-resource.ts';

export const httpTables = {
  topics: [],
  sealed: [],
  columns: {
    'idempotency_keys.headers': 'JsonColumn<unknown>',
  },
} as const satisfies StoredResource;
