import type { ReactNode } from 'react';

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
