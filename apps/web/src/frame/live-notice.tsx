import { CloudOff } from 'lucide-react';
import { useLive } from '../live/live.ts';

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
