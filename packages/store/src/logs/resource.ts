import type { StoredResource } from '../database/stored-resource.ts';

export const logTables = {
  topics: ['agent_log_changed'],
  sealed: [],
  columns: {},
} as const satisfies StoredResource;
