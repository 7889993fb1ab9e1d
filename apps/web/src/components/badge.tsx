import type { ReactNode } from 'react';
import { cx } from './cx.ts';

const tones = {
  good: 'bg-accent-soft text-accent',
  warning: 'bg-warn-soft text-warn',
  bad: 'bg-danger-soft text-danger',
  quiet: 'bg-hover text-muted',
} as const;
export type Tone = keyof typeof tones;

export function Badge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span
      className={cx(
        'inline-flex items-center rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap',
        tones[tone],
      )}
    >
      {children}
    </span>
  );
}

/** A name for machines: a scope, an id. */
export function Code({ children }: { children: ReactNode }) {
  return (
    <code className="rounded border border-line bg-sunken px-1.5 py-0.5 font-mono text-xs wrap-break-word text-ink box-decoration-clone">
      {children}
    </code>
  );
}
