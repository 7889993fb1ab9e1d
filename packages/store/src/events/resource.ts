import type { StoredResource } from '../database/stored-resource.ts';

export const eventTables = {
  topics: ['event_appended'],
  sealed: [],
  columns: {
    'events.actor_kind': "'account' | 'api_key' | 'operator'",
    'events.data': 'JsonColumn<Record<string, unknown>>',
    'events.operation': 'JsonColumn<Record<string, unknown>>',
  },
} as const satisfies StoredResource;
