import { queryOptions } from '@tanstack/react-query';
import { list, lodge } from '../../api.ts';

/** An operator's restart alone changes these. */
const rarely = 300_000;

export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: () => list(lodge.service.providers()),
  staleTime: rarely,
});
export const sizesQuery = queryOptions({
  queryKey: ['sizes'],
  queryFn: () => list(lodge.service.sizes()),
  staleTime: rarely,
});
