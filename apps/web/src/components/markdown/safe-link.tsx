import type { ReactNode } from 'react';
import { workspacePath } from './workspace-path.ts';

/** Shows a file of the workspace that a text leads to. */
export type ShowFile = (path: string, label: ReactNode) => ReactNode;

interface SafeLinkProps {
  readonly href: string | undefined;
  /** The words of the link, to see whether they say where it leads. */
  readonly words: string;
  readonly file?: ShowFile | undefined;
  readonly children: ReactNode;
}

/**
 * A link that somebody else wrote. It leads to http, https or mail alone, into a window of its own, and says the host unless
 * its words are the address. Any other address is shown beside the words, and leads nowhere.
 */
export function SafeLink({ href = '', words, file, children }: SafeLinkProps) {
  const path = file === undefined ? undefined : workspacePath(href);
  if (file !== undefined && path !== undefined) return file(path, children);
  const to = addressOf(href);
  if (to === undefined) {
    if (href === '' || href.startsWith('#')) return <span>{children}</span>;
    return (
      <span>
        {children} <span className="wrap-anywhere text-muted">({href.slice(0, 200)})</span>
      </span>
    );
  }
  const isSaid = to.username === '' && (words === href || `http://${words}` === href || `mailto:${words}` === href);
  const place = to.protocol === 'mailto:' ? to.pathname : to.host;
  return (
    <>
      <a
        href={to.href}
        target="_blank"
        rel="noopener noreferrer"
        className="wrap-anywhere text-accent underline underline-offset-2 hover:text-accent-hover"
      >
        {children}
      </a>
      {!isSaid && (
        <>
          {' '}
          <bdi className="text-[0.8125rem] wrap-anywhere text-muted">({place.slice(0, 200)})</bdi>
        </>
      )}
    </>
  );
}

const schemes: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);

function addressOf(href: string): URL | undefined {
  const url = /^[a-z]/i.test(href) && URL.canParse(href) ? new URL(href) : null;
  return url !== null && schemes.has(url.protocol) ? url : undefined;
}
