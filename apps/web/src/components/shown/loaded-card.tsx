import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Loaded } from '../states.tsx';

/** A card without a heading. */
export function Card({ children }: { readonly children: ReactNode }) {
  return <div className="rounded-card border border-line bg-surface shadow-card">{children}</div>;
}

interface LoadedCardProps<T> {
  readonly query: UseQueryResult<T>;
  readonly children: (data: T) => ReactNode;
}

/** Content that brings its own cards; while it loads, or when it failed, one stands in its place. */
export function LoadedCard<T>({ query, children }: LoadedCardProps<T>) {
  if (query.data !== undefined) return children(query.data);
  return (
    <Card>
      <Loaded query={query}>{() => null}</Loaded>
    </Card>
  );
}
