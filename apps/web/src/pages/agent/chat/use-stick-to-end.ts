import { useEffect, useRef, useState } from 'react';
import type { RefObject } from 'react';

/** So near to the end, a reader reads what comes. */
const nearPx = 120;

const distance = (): number => {
  const { scrollHeight } = document.documentElement;
  return scrollHeight - window.innerHeight - window.scrollY;
};

/**
 * Keeps the end of the page in view while the content grows, as long as the reader is there. Whoever scrolls back is left where
 * they read. There is no content while it `isEmpty`.
 */
export function useStickToEnd(content: RefObject<HTMLElement | null>, isEmpty: boolean) {
  const sticks = useRef(true);
  const [isAtEnd, setAtEnd] = useState(true);

  useEffect(() => {
    const onScroll = (): void => {
      sticks.current = distance() < nearPx;
      setAtEnd(sticks.current);
    };
    window.addEventListener('scroll', onScroll, { passive: true });
    return () => window.removeEventListener('scroll', onScroll);
  }, []);

  useEffect(() => {
    sticks.current = true;
    const element = content.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => {
      if (sticks.current) window.scrollTo({ top: document.documentElement.scrollHeight });
      else setAtEnd(distance() < nearPx);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [content, isEmpty]);

  const toEnd = (): void => {
    sticks.current = true;
    window.scrollTo({ top: document.documentElement.scrollHeight });
  };
  return { isAtEnd, toEnd };
}
