import { queryOptions } from '@tanstack/react-query';
import { list, lodge } from '../../api.ts';

/** Agents that the page shows; the list of agents shows all. */
const newest = 6;
const mostInError = 5;

export const homeQueries = {
  newest: queryOptions({
    queryKey: ['agents', 'newest'],
    queryFn: () => list(lodge.agents.list({ limit: newest })),
  }),
  inError: queryOptions({
    queryKey: ['agents', 'in-error'],
    queryFn: () => list(lodge.agents.list({ limit: mostInError, status: 'error' })),
  }),
};
