import { CircleAlert, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from './cx.ts';
import { explain, requestOf } from '../messages.ts';

const kinds = {
  info: { Icon: Info, look: 'bg-accent-soft text-ink', icon: 'text-accent' },
  warning: { Icon: TriangleAlert, look: 'bg-warn-soft text-ink', icon: 'text-warn' },
  error: { Icon: CircleAlert, look: 'bg-danger-soft text-ink', icon: 'text-danger' },
} as const;

export function Notice({
  kind,
  children,
  alert = false,
}: {
  kind: keyof typeof kinds;
  children: ReactNode;
  alert?: boolean;
}) {
  const { Icon, look, icon } = kinds[kind];
  return (
    <div role={alert ? 'alert' : undefined} className={cx('flex gap-2.5 rounded-control px-3.5 py-2.5', look)}>
      <Icon aria-hidden className={cx('mt-0.5 size-4 shrink-0', icon)} />
      <div className="min-w-0">{children}</div>
    </div>
  );
}

/** The reason why a form's last sending failed, read out when it appears. Empty without a failure. */
export function Failure({ error, here }: { error: unknown; here?: Readonly<Record<string, string>> }) {
  if (error === undefined || error === null) return null;
  return (
    <Notice kind="error" alert>
      <Reason error={error} here={here} />
    </Notice>
  );
}

interface ReasonProps {
  readonly error: unknown;
  /** Words for some codes in this place. */
  readonly here?: Readonly<Record<string, string>> | undefined;
}

/** The reason of a failure in a sentence, and the request's id where the operator may have to look for it. */
export function Reason({ error, here }: ReasonProps) {
  const request = requestOf(error);
  return (
    <>
      {explain(error, here)}
      {request !== undefined && (
        <span className="block text-[0.8125rem] text-muted">
          Request <span className="font-mono wrap-anywhere select-all">{request}</span>
        </span>
      )}
    </>
  );
}
