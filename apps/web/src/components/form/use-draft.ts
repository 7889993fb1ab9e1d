import { useEffect, useRef, useState } from 'react';

function stored(key: string): string | null {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

/**
 * A longer text that is being written. It outlives an error, a reload and a new sign-in of this tab, until it is kept
 * (`clear`). The browser may have no storage: then it lives as long as the page.
 */
export function useDraft(key: string, initial: string) {
  const [value, setValue] = useState(() => stored(key) ?? initial);
  const isOver = useRef(false);
  useEffect(() => {
    if (isOver.current) return;
    try {
      if (value === initial) sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, value);
    } catch {
      // The page goes on without a copy.
    }
  }, [key, value, initial]);
  const clear = (): void => {
    isOver.current = true;
    try {
      sessionStorage.removeItem(key);
    } catch {
      // There is none.
    }
  };
  return { value, set: setValue, clear };
}
