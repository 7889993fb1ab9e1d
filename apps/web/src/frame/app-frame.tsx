import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { CloudOff, Menu, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { IconButton } from '../components/button.tsx';
import { useModal } from '../components/dialogs/dialog.tsx';
import { Logo } from '../components/logo.tsx';
import { Skeleton, SkeletonRows } from '../components/states.tsx';
import { goLive, useLive } from '../live/live.ts';
import { Palette } from './palette/palette.tsx';
import { Sidebar } from './sidebar.tsx';

/** The frame of all signed-in pages: navigation beside the page, or above it behind a button on narrow screens. */
export function AppFrame() {
  const queryClient = useQueryClient();
  useEffect(() => goLive(queryClient), [queryClient]);
  return (
    <div className="min-h-dvh lg:pl-60">
      <a
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.querySelector<HTMLElement>('#main')?.focus();
        }}
        className="fixed top-2 left-2 z-50 -translate-y-16 rounded-control bg-raised px-4 py-2 font-medium focus:translate-y-0 focus:shadow-float"
      >
        Skip to content
      </a>
      <TopBar />
      <header className="fixed inset-y-0 left-0 flex w-60 flex-col gap-5 border-r border-line bg-surface p-3 pt-5 max-lg:hidden">
        <div className="flex">
          <HomeLink />
        </div>
        <Sidebar />
      </header>
      <main id="main" tabIndex={-1} className="mx-auto max-w-[100rem] px-4 pt-6 pb-24 outline-none sm:px-8 sm:pt-10">
        <LiveNotice />
        <Outlet />
      </main>
      <Palette />
    </div>
  );
}

function HomeLink() {
  return (
    <Link to="/" aria-label="Lodge, home" className="mx-2 inline-flex rounded-control">
      <Logo />
    </Link>
  );
}

function TopBar() {
  const [open, setOpen] = useState(false);
  return (
    <header className="sticky top-0 z-30 flex h-14 items-center justify-between border-b border-line bg-surface px-2 lg:hidden">
      <HomeLink />
      <IconButton label="Open navigation" aria-haspopup="dialog" aria-expanded={open} onClick={() => setOpen(true)}>
        <Menu aria-hidden className="size-5" />
      </IconButton>
      {open && <Drawer onClose={() => setOpen(false)} />}
    </header>
  );
}

const wide = '(min-width: 64rem)';

function Drawer({ onClose }: { onClose: () => void }) {
  const ref = useRef<HTMLDialogElement>(null);
  useModal(ref);
  useEffect(() => {
    const query = matchMedia(wide);
    query.addEventListener('change', onClose);
    return () => query.removeEventListener('change', onClose);
  }, [onClose]);
  return (
    <dialog
      ref={ref}
      aria-label="Navigation"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onPointerDown={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
      className="my-0 mr-0 ml-auto h-dvh max-h-dvh w-72 max-w-[85vw] border-l border-line bg-surface text-ink backdrop:bg-backdrop"
    >
      <div className="flex min-h-full flex-col gap-6 p-3">
        <div className="flex items-center justify-between pl-2">
          <Logo />
          <IconButton label="Close navigation" onClick={onClose}>
            <X aria-hidden className="size-5" />
          </IconButton>
        </div>
        <Sidebar onNavigate={onClose} />
      </div>
    </dialog>
  );
}

/** The frame before the session is loaded. */
export function AppFrameSkeleton() {
  return (
    <div className="min-h-dvh lg:pl-60">
      <div className="fixed inset-y-0 left-0 flex w-60 flex-col gap-8 border-r border-line bg-surface p-5 max-lg:hidden">
        <Logo />
      </div>
      <main className="mx-auto max-w-[100rem] px-4 pt-20 sm:px-8 lg:pt-10">
        <div className="mx-auto flex max-w-5xl flex-col gap-8">
          <Skeleton className="h-8 w-40" />
          <div className="rounded-card border border-line bg-surface">
            <SkeletonRows />
          </div>
        </div>
      </main>
    </div>
  );
}

/** Says when what the pages show may be old. It goes by itself. */
export function LiveNotice() {
  const isStale = useLive() === 'stale';
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-0 bottom-4 z-30 flex justify-center px-4 lg:pl-60"
    >
      {isStale && (
        <p className="flex animate-rise items-center gap-2.5 rounded-3xl border border-line bg-raised px-4 py-2 shadow-float">
          <CloudOff aria-hidden className="size-4 shrink-0 text-warn" />
          Lodge does not answer. What you see may be old; it is tried again by itself.
        </p>
      )}
    </div>
  );
}
