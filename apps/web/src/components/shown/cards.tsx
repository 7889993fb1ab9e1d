import { Lock } from 'lucide-react';
import type { ReactNode } from 'react';
import { EmptyState, Loaded } from '../states.tsx';
import type { UseQueryResult } from '@tanstack/react-query';

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

/** Stands in place of a page for whoever is not the owner of this Lodge. */
export function OwnerOnly({ children }: { readonly children: ReactNode }) {
  return (
    <Card>
      <EmptyState Icon={Lock} title="For the owner">
        {children}
      </EmptyState>
    </Card>
  );
}

interface FormCardProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly children: ReactNode;
}

/** A part of a long form, in a card. */
export function FormCard({ title, description, children }: FormCardProps) {
  return (
    <section className="flex flex-col gap-4 rounded-card border border-line bg-surface p-5 shadow-card sm:p-6">
      <header className="flex flex-col gap-1">
        <h2 className="text-base font-semibold">{title}</h2>
        {description !== undefined && <p className="text-muted">{description}</p>}
      </header>
      {children}
    </section>
  );
}
