import { ArrowLeft, ExternalLink } from 'lucide-react';
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

/** A link out of Lodge, in a tab of its own. */
export function OutwardLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  return (
    <a
      href={href}
      target="_blank"
      rel="noopener noreferrer"
      className="font-medium wrap-anywhere text-accent underline underline-offset-2 hover:text-accent-hover"
    >
      {children}
      <ExternalLink aria-hidden className="ml-1 inline size-3.5 align-[-0.1em]" />
      <span className="sr-only"> (opens in a new tab)</span>
    </a>
  );
}
