import { ExternalLink } from 'lucide-react';
import type { ReactNode } from 'react';

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
