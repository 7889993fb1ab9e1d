import { queryOptions } from '@tanstack/react-query';
import { list, lodge } from '../../api.ts';

/** Agents that the page shows; the list of agents shows all. */
const newest = 6;
const mostInError = 5;
/** Enough for a full list after arrivals and repetitions are folded. */
const events = 60;

export const homeQueries = {
  newest: queryOptions({
    queryKey: ['agents', 'newest'],
    queryFn: () => list(lodge.agents.list({ limit: newest })),
  }),
  inError: queryOptions({
    queryKey: ['agents', 'in-error'],
    queryFn: () => list(lodge.agents.list({ limit: mostInError, status: 'error' })),
  }),
  recent: queryOptions({
    queryKey: ['events', 'recent'],
    queryFn: () => list(lodge.events.list({ limit: events })),
  }),
};
