import { queryOptions } from '@tanstack/react-query';
import { list, lodge, read } from '../../api.ts';

/** Agents that the page shows; the list of agents shows all. */
const newest = 6;
const mostInError = 5;

export const homeQueries = {
  limits: queryOptions({ queryKey: ['limits'], queryFn: () => read(lodge.service.limits()) }),
  newest: queryOptions({
    queryKey: ['agents', 'newest'],
    queryFn: () => list(lodge.agents.list({ limit: newest })),
  }),
  inError: queryOptions({
    queryKey: ['agents', 'in-error'],
    queryFn: () => list(lodge.agents.list({ limit: mostInError, status: 'error' })),
  }),
  providers: queryOptions({
    queryKey: ['providers'],
    queryFn: () => list(lodge.service.providers()),
    staleTime: 300_000,
  }),
};
