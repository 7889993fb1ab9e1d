import type { LlmCall, LodgeEvent } from '@lodge/sdk';
import { useEffect, useMemo } from 'react';
import { lodge } from '../../../api.ts';
import { usePages } from '../../../components/shown/paged.tsx';
import { horizonOf, timelineOf } from './timeline.ts';
import type { Item } from './timeline.ts';

const pageSize = 100;

/** The events and model calls of an agent, as far back as both are loaded. */
export function useTimeline(agentId: string) {
  const events = usePages<LodgeEvent>(['agent', agentId, 'events', 'list'], (cursor) =>
    lodge.events.list({ agent_id: agentId, limit: pageSize, ...(cursor !== undefined && { cursor }) }),
  );
  const calls = usePages<LlmCall>(['agent', agentId, 'calls', 'list'], (cursor) =>
    lodge.llmCalls.list(agentId, { limit: pageSize, ...(cursor !== undefined && { cursor }) }),
  );
  useNews(calls);
  const lists = [
    { query: events, oldest: events.data?.pages.at(-1)?.data.at(-1)?.created_at, hasMore: events.hasNextPage },
    { query: calls, oldest: calls.data?.pages.at(-1)?.data.at(-1)?.started_at, hasMore: calls.hasNextPage },
  ];
  const horizon = horizonOf(lists);
  const items = useMemo<readonly Item[] | undefined>(() => {
    if (events.data === undefined || calls.data === undefined) return undefined;
    const all = timelineOf(
      events.data.pages.flatMap(({ data }) => data),
      calls.data.pages.flatMap(({ data }) => data),
    );
    return horizon === undefined ? all : all.filter(({ at }) => Date.parse(at) >= Date.parse(horizon));
  }, [events.data, calls.data, horizon]);
  return {
    items,
    error: items === undefined ? (events.error ?? calls.error) : null,
    moreError: items === undefined ? null : (events.error ?? calls.error),
    isFetching: events.isFetching || calls.isFetching,
    isFetchingMore: events.isFetchingNextPage || calls.isFetchingNextPage,
    horizon,
    refetch: (): void => {
      void events.refetch();
      void calls.refetch();
    },
    /** Loads more of the list that ends first. */
    fetchMore: (): void => {
      for (const { query, oldest, hasMore } of lists) if (hasMore && oldest === horizon) void query.fetchNextPage();
    },
  };
}

const newsMs = 15_000;

/** Looks for new calls while the page is seen: no event tells of those of a chat. Further pages are read when they are asked for. */
function useNews({ data, refetch }: Pick<ReturnType<typeof usePages<LlmCall>>, 'data' | 'refetch'>): void {
  const isShort = data?.pages.length === 1;
  useEffect(() => {
    if (!isShort) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void refetch();
    }, newsMs);
    return () => clearInterval(timer);
  }, [isShort, refetch]);
}
