import { useEffect } from 'react';

/** Focuses the page's heading, after a change of page or when the focused element is gone. */
export function focusHeading(): void {
  document.querySelector<HTMLElement>('main h1')?.focus();
}

/**
 * Reads out another step of the same page from its heading on, as after a change of page. The link that led here is gone,
 * and the focus with it; a focus that is somewhere stays.
 */
export function useStepFocus(): void {
  useEffect(() => {
    if (document.activeElement !== document.body) return;
    document.querySelector<HTMLElement>('main section h2')?.focus({ preventScroll: true });
  }, []);
}
