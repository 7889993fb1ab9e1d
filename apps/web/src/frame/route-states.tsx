import { Link, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ApiError } from '../api.ts';
import { buttonClass } from '../components/button.tsx';
import { Logo } from '../components/logo.tsx';
import { useTitle } from '../components/page.tsx';
import { ErrorState } from '../components/states.tsx';

export function NotFoundPage() {
  useTitle('Page not found');
  return (
    <main className="mx-auto flex min-h-dvh max-w-sm flex-col items-start justify-center gap-4 px-6">
      <Logo />
      <h1 tabIndex={-1} className="text-xl font-semibold tracking-tight">
        There is no such page
      </h1>
      <p className="text-muted">The address may be mistyped, or the page may have moved.</p>
      <Link to="/" className={buttonClass('primary')}>
        Go to the start
      </Link>
    </main>
  );
}

const againMs = 3_000;

/** A page that could not be shown, because its code or its session did not load. It is tried again in its place. */
export function RouteError({ error }: { error: unknown }) {
  useTitle('Something went wrong');
  const router = useRouter();
  const isFault = !(error instanceof ApiError);
  useEffect(() => {
    if (isFault) return undefined;
    const timer = setInterval(() => void router.invalidate(), againMs);
    return () => clearInterval(timer);
  }, [isFault, router]);
  return (
    <div className="mx-auto flex max-w-lg flex-col gap-6 px-4 pt-16">
      <h1 className="sr-only">Something went wrong</h1>
      <div className="flex justify-center in-[main]:hidden">
        <Logo />
      </div>
      <ErrorState error={error} retry={() => (isFault ? window.location.reload() : void router.invalidate())} />
    </div>
  );
}
