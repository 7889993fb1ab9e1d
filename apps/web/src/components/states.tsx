import { CloudAlert } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { cx } from './cx.ts';
import { Reason } from './notice.tsx';

interface StateProps {
  readonly Icon: LucideIcon;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

/** Stands in place of missing content and says how to create some. */
export function EmptyState({ Icon, title, children, action }: StateProps) {
  return (
    <div className="flex flex-col items-center gap-3 px-6 py-12 text-center">
      <span className="flex size-11 items-center justify-center rounded-full bg-accent-soft text-accent">
        <Icon aria-hidden className="size-5" />
      </span>
      <p className="text-base font-semibold">{title}</p>
      {children !== undefined && <div className="max-w-md text-balance text-muted">{children}</div>}
      {action !== undefined && <div className="pt-2">{action}</div>}
    </div>
  );
}

/** Stands in place of content that could not be loaded. */
export function ErrorState({
  error,
  retry,
  pending = false,
}: {
  error: unknown;
  retry?: () => void;
  pending?: boolean;
}) {
  return (
    <div role="alert" className="flex flex-col items-center gap-3 px-6 py-12 text-center">
      <span className="flex size-11 items-center justify-center rounded-full bg-danger-soft text-danger">
        <CloudAlert aria-hidden className="size-5" />
      </span>
      <p className="text-base font-semibold">This could not be loaded</p>
      <p className="max-w-md text-balance text-muted">
        <Reason error={error} />
      </p>
      {retry !== undefined && (
        <Button onClick={retry} pending={pending} className="mt-2">
          Try again
        </Button>
      )}
    </div>
  );
}

export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden className={cx('block h-4 animate-pulse rounded bg-hover', className)} />;
}

/** Placeholder rows in the shape of a list. */
export function SkeletonRows({ rows = 3 }: { rows?: number }) {
  return (
    <div role="status" className="divide-y divide-line">
      <span className="sr-only">Loading…</span>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className="flex items-center gap-6 px-5 py-4 sm:px-6">
          <div className="flex grow flex-col gap-2">
            <Skeleton className="w-40 max-w-full" />
            <Skeleton className="h-3 w-64 max-w-full" />
          </div>
          <Skeleton className="hidden w-24 sm:block" />
          <Skeleton className="w-16" />
        </div>
      ))}
    </div>
  );
}

interface LoadedProps<T> {
  readonly query: UseQueryResult<T>;
  readonly skeleton?: ReactNode;
  readonly children: (data: T) => ReactNode;
}

/** A query's content, or a placeholder while it loads or when it failed. Loaded content stays. */
export function Loaded<T>({ query, skeleton, children }: LoadedProps<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error !== null) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} pending={query.isFetching} />;
  }
  return skeleton ?? <SkeletonRows />;
}
