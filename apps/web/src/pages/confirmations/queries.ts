import { queryOptions } from '@tanstack/react-query';
import { lodge, read } from '../../api.ts';

/** As many as the API returns at once. */
export const mostOpen = 100;

/** Those that nobody has decided, newest first. */
export const openConfirmations = queryOptions({
  queryKey: ['confirmations', 'open'],
  queryFn: () => read(lodge.confirmations.list({ status: 'pending', limit: mostOpen })),
});

export const confirmationQuery = (id: string) =>
  queryOptions({ queryKey: ['confirmations', 'one', id], queryFn: () => read(lodge.confirmations.get(id)) });
