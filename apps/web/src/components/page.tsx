import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { cx } from './cx.ts';

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Lodge`;
  }, [title]);
}

/** For reading and for forms; the frame is as wide as lists need. */
const narrow = 'mx-auto w-full max-w-5xl';

interface PageProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  /** `wide` is for lists and logs, `form` for a tab that is one form. */
  readonly width?: 'form' | 'normal' | 'wide';
  readonly children: ReactNode;
}

/** A page within the frame: its heading, its purpose, its actions and its sections. */
export function Page({ title, description, actions, width = 'normal', children }: PageProps) {
  useTitle(title);
  return (
    <div className={cx('flex flex-col gap-8', width !== 'wide' && narrow)}>
      <header className="flex flex-wrap items-end justify-between gap-4">
        <div className="flex max-w-2xl flex-col gap-1.5">
          <h1 tabIndex={-1} className="text-2xl font-semibold tracking-tight">
            {title}
          </h1>
          {description !== undefined && <p className="text-pretty text-muted">{description}</p>}
        </div>
        {actions}
      </header>
      {children}
    </div>
  );
}

interface SectionProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A card with a heading of its own. */
export function Section({ title, description, actions, children }: SectionProps) {
  return (
    <section className="rounded-card border border-line bg-surface shadow-card">
      <header className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 border-b border-line px-5 py-4 sm:px-6">
        <div className="flex max-w-xl flex-col gap-1">
          <h2 className="text-base font-semibold">{title}</h2>
          {description !== undefined && <p className="text-pretty text-muted">{description}</p>}
        </div>
        {actions}
      </header>
      {children}
    </section>
  );
}

const tabWidths = { form: 'w-full max-w-2xl', normal: 'w-full max-w-5xl', wide: '' };

/** A page below an agent's header: its heading is one of the second level. */
export function TabPage({ title, description, actions, width = 'normal', children }: PageProps) {
  return (
    <section aria-label={title} className={cx('flex flex-col gap-5', tabWidths[width])}>
      <header className="flex flex-wrap items-end justify-between gap-4">
        <div className="flex max-w-2xl min-w-0 flex-col gap-1">
          <h2 tabIndex={-1} className="text-lg font-semibold tracking-tight wrap-anywhere">
            {title}
          </h2>
          {description !== undefined && <p className="text-pretty text-muted">{description}</p>}
        </div>
        {actions}
      </header>
      {children}
    </section>
  );
}
