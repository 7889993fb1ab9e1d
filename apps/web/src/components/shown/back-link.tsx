import { ArrowLeft } from 'lucide-react';
import type { ReactNode } from 'react';

/** The look of a link back to a list. */
export const backLinkClass = 'inline-flex h-9 items-center gap-1.5 font-medium text-muted hover:text-ink';

export function BackWords({ children }: { readonly children: ReactNode }) {
  return (
    <>
      <ArrowLeft aria-hidden className="size-4" />
      {children}
    </>
  );
}
