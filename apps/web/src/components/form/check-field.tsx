import { useId } from 'react';
import type { ComponentProps, ReactNode } from 'react';

/** A box to tick, with what it means. */
export function CheckField({
  label,
  hint,
  ...props
}: { readonly label: string; readonly hint?: ReactNode } & ComponentProps<'input'>) {
  const id = useId();
  return (
    <div className="flex gap-3">
      <input
        {...props}
        id={id}
        type="checkbox"
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        className="mt-0.5 size-4 shrink-0 accent-accent"
      />
      <div className="flex min-w-0 flex-col gap-0.5">
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        {hint !== undefined && (
          <p id={`${id}-hint`} className="text-[0.8125rem] text-muted">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}
