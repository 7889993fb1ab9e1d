import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { WebhookDelivery } from '@lodge/sdk';
import { list, lodge, read } from '../../api.ts';

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks'],
  queryFn: () => list(lodge.webhooks.list()),
});

export const webhookQuery = (id: string) =>
  queryOptions({ queryKey: ['webhooks', id], queryFn: () => read(lodge.webhooks.get(id)) });

/** Until a delivery ends no event tells of it. */
const pendingMs = 3_000;
const quietMs = 20_000;

export type DeliveryState = WebhookDelivery['state'];

export const deliveriesQuery = (id: string, state: DeliveryState | undefined) =>
  infiniteQueryOptions({
    queryKey: ['webhooks', id, 'deliveries', state ?? 'all'],
    queryFn: async ({ pageParam }) =>
      read(
        lodge.webhooks.deliveries(id, {
          limit: 20,
          ...(state !== undefined && { state }),
          ...(pageParam !== '' && { cursor: pageParam }),
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor: cursor }) => cursor,
    refetchInterval: ({ state: { data } }) =>
      data?.pages[0]?.data.some((delivery) => delivery.state === 'pending') === true ? pendingMs : quietMs,
  });
