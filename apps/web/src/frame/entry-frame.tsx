import { Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Logo } from '../components/logo.tsx';
import { useTitle } from '../components/page.tsx';

/** The frame of pages before signing in: one card in the middle. */
export function EntryFrame() {
  return (
    <div className="flex min-h-dvh flex-col items-center gap-8 px-4 pt-10 pb-16 sm:pt-20">
      <header>
        <Logo />
      </header>
      <main className="w-full max-w-sm">
        <Outlet />
      </main>
    </div>
  );
}

interface EntryCardProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly footer?: ReactNode;
  readonly children: ReactNode;
}

export function EntryCard({ title, description, footer, children }: EntryCardProps) {
  useTitle(title);
  return (
    <div className="flex flex-col gap-5">
      <div className="flex flex-col gap-6 rounded-card border border-line bg-surface p-5 shadow-card sm:p-7">
        <header className="flex flex-col gap-1.5">
          <h1 tabIndex={-1} className="text-xl font-semibold tracking-tight text-balance">
            {title}
          </h1>
          {description !== undefined && <p className="text-muted">{description}</p>}
        </header>
        {children}
      </div>
      {footer !== undefined && <div className="px-2 text-center text-muted">{footer}</div>}
    </div>
  );
}
