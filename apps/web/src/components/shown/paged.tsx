import { useInfiniteQuery } from '@tanstack/react-query';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { read } from '../../api.ts';
import { Button } from '../button.tsx';
import { Failure } from '../notice.tsx';
import { ErrorState, SkeletonRows } from '../states.tsx';

export interface PageOf<Row> {
  readonly data: readonly Row[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** A list by pages, newest first. */
export function usePages<Row>(
  queryKey: readonly unknown[],
  page: (cursor: string | undefined) => PromiseLike<PageOf<Row>>,
) {
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => read(page(pageParam)),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
}

interface PagedProps<Row> {
  readonly query: UseInfiniteQueryResult<InfiniteData<PageOf<Row>>>;
  readonly children: (rows: readonly Row[]) => ReactNode;
}

/** The entries of a list so far, with a button for more. */
export function Paged<Row>({ query, children }: PagedProps<Row>) {
  const { data, error, hasNextPage, isFetchingNextPage } = query;
  if (data === undefined) {
    if (error === null) return <SkeletonRows />;
    return <ErrorState error={error} retry={() => void query.refetch()} pending={query.isFetching} />;
  }
  return (
    <>
      {children(data.pages.flatMap((page) => page.data))}
      {hasNextPage && (
        <div className="flex flex-col items-center gap-3 border-t border-line px-5 py-3">
          <Failure error={error} />
          <Button small variant="ghost" pending={isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
}
