import { X } from 'lucide-react';
import { useEffect, useId, useLayoutEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { IconButton } from '../button.tsx';
import { cx } from '../cx.ts';

interface DialogProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly onClose: () => void;
  /** False while closing by Escape would lose something that cannot be shown again. */
  readonly dismissable?: boolean;
  /** Changes when the content becomes another step, which then gets the focus. */
  readonly step?: string;
  readonly children: ReactNode;
}

/**
 * A modal dialog, open while it is mounted. It is the browser's own, which keeps the focus inside, makes the page behind it
 * inert and returns the focus. The element with `data-autofocus` gets the focus first, else the title.
 */
export function Dialog({ title, description, onClose, dismissable = true, step, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useModal(ref);
  useEffect(() => {
    const first = ref.current?.querySelector<HTMLElement>('[data-autofocus]') ?? ref.current?.querySelector('h2');
    first?.focus();
  }, [step]);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      aria-describedby={description === undefined ? undefined : `${id}-description`}
      onCancel={(event) => {
        event.preventDefault();
        if (dismissable) onClose();
      }}
      className={cx(
        'm-auto max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] max-w-lg animate-rise overflow-y-auto rounded-card border border-line bg-raised text-ink shadow-float backdrop:bg-backdrop',
        'max-sm:mb-0 max-sm:w-full max-sm:max-w-full max-sm:rounded-b-none max-sm:border-x-0 max-sm:border-b-0',
      )}
    >
      <div className="flex flex-col gap-5 p-5 sm:p-6">
        <header className="flex items-start gap-4">
          <div className="flex min-w-0 grow flex-col gap-1">
            <h2 id={id} tabIndex={-1} className="text-lg font-semibold text-balance wrap-anywhere">
              {title}
            </h2>
            {description !== undefined && (
              <p id={`${id}-description`} className="text-muted">
                {description}
              </p>
            )}
          </div>
          {dismissable && (
            <IconButton label="Close" onClick={onClose} className="-mt-1 -mr-2">
              <X aria-hidden className="size-4" />
            </IconButton>
          )}
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** The buttons at the end of a dialog; the acting one comes last. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="flex flex-col-reverse gap-2 pt-1 sm:flex-row sm:justify-end">{children}</div>;
}

/**
 * Shows the dialog modally while it is mounted. The layout effect closes it, and so returns the focus, before it is removed.
 */
export function useModal(ref: { readonly current: HTMLDialogElement | null }): void {
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, [ref]);
}
