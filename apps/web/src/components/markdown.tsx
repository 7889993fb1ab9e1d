/**
 * Markdown that an agent, a stranger or a file wrote. It is parsed to elements of React and never to HTML; tags in it are shown
 * as text. Pictures are links, so nothing is loaded. A text that would take the parser long is shown as it is written
 * (markdown/bounds.ts). So is any text until the parser is loaded.
 */
import { Suspense, lazy, memo, useEffect, useRef, useState } from 'react';
import { cx } from './cx.ts';
import { Plain } from './markdown/plain.tsx';
import type { ShowFile } from './markdown/safe-link.tsx';

const Parsed = lazy(() => import('./markdown/parsed.tsx'));

interface MarkdownProps {
  readonly text: string;
  /** Whether more of the text comes. It is then parsed from time to time, and not with every word. */
  readonly streaming?: boolean;
  /** Shows a link to a file of the workspace; without it such a link leads nowhere. It should keep its identity. */
  readonly file?: ShowFile | undefined;
  readonly className?: string;
}

export const Markdown = memo(function Markdown({ text, streaming = false, file, className }: MarkdownProps) {
  const { shown, took } = useCalm(text, streaming);
  return (
    <div dir="auto" className={cx('flex min-w-0 flex-col gap-3 wrap-anywhere [&_li>p+*]:mt-1.5', className)}>
      <Suspense fallback={<Plain text={shown} />}>
        <Parsed text={shown} file={file} took={took} />
      </Suspense>
    </div>
  );
});

/** The text as it was at most a moment ago: parsing takes a tenth of the time at most, however long the text has become. */
function useCalm(text: string, streaming: boolean) {
  const [shown, setShown] = useState(text);
  const cost = useRef(0);
  const last = useRef(0);
  const took = useRef((ms: number) => {
    cost.current = ms;
    last.current = performance.now();
  }).current;
  useEffect(() => {
    if (!streaming || text === shown) return;
    const wait = Math.max(80, cost.current * 10) - (performance.now() - last.current);
    const timer = setTimeout(() => setShown(text), Math.max(0, wait));
    return () => clearTimeout(timer);
  }, [text, shown, streaming]);
  return { shown: streaming ? shown : text, took };
}
