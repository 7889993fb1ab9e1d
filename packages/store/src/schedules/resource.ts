import type { StoredResource } from '../database/stored-resource.ts';

export const scheduleTables = {
  topics: [],
  sealed: [],
  columns: {
    'schedule_runs.status': 'domain.RunStatus',
    'schedules.deliver_channel': 'domain.ChannelName',
    'schedules.deliver_to': 'domain.DeliverTarget',
  },
} as const satisfies StoredResource;
