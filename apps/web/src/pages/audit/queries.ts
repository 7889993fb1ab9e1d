import { infiniteQueryOptions } from '@tanstack/react-query';
import { lodge, read } from '../../api.ts';
import type { AuditSearch } from './search.ts';

export const auditQuery = ({ what, who, target }: AuditSearch) =>
  infiniteQueryOptions({
    queryKey: ['audit', what ?? '', who ?? '', target ?? ''],
    queryFn: async ({ pageParam }) =>
      read(
        lodge.auditEvents.list({
          limit: 50,
          ...(what !== undefined && { action: `${what}.*` }),
          ...(who !== undefined && { actor_type: who }),
          ...(target !== undefined && { target_id: target }),
          ...(pageParam !== '' && { cursor: pageParam }),
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor: cursor }) => cursor,
  });
