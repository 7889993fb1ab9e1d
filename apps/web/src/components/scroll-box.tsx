import type { ReactNode } from 'react';

const longChars = 800;
const longLines = 12;

/** Whether a text may be higher than a page should give it. */
export const isLong = (text: string): boolean =>
  text.length > longChars || text.split('\n', longLines).length === longLines;

interface ScrollBoxProps {
  readonly isLong: boolean;
  /** For people who do not see it. */
  readonly label: string;
  readonly children: ReactNode;
}

/**
 * Content that scrolls in itself where it is long; the keyboard reaches it then. It is a group and not a region: a page has many
 * of one name, and regions are landmarks.
 */
export function ScrollBox({ isLong: scrolls, label, children }: ScrollBoxProps) {
  if (!scrolls) return children;
  return (
    <div role="group" aria-label={label} tabIndex={0} className="max-h-96 overflow-y-auto">
      {children}
    </div>
  );
}
