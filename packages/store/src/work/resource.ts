import type { StoredResource } from '../database/stored-resource.ts';

export const workTables = {
  topics: ['work'],
  sealed: [],
  columns: {
    'work.kind': "import('../work/tables.ts').WorkKind",
  },
} as const satisfies StoredResource;
