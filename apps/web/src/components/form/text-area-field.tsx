import type { ComponentProps, ReactNode } from 'react';
import { cx } from '../cx.ts';
import { Field, controlClass } from './field.tsx';

interface TextAreaProps extends ComponentProps<'textarea'> {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly optional?: boolean;
  /** Whether it holds text for machines: paths, ids, templates. */
  readonly code?: boolean;
}

/** Several lines of text. It grows with them, up to a bound. */
export function TextAreaField({
  label,
  hint,
  error,
  optional = false,
  code = false,
  className,
  ...props
}: TextAreaProps) {
  return (
    <Field label={label} hint={hint} error={error} optional={optional}>
      {(control) => (
        <textarea
          rows={4}
          spellCheck={!code}
          {...props}
          {...control}
          className={cx(
            controlClass,
            'field-sizing-content h-auto! max-h-80 min-h-20 resize-y py-2 read-only:bg-sunken',
            code && 'font-mono text-[0.8125rem]!',
            className,
          )}
        />
      )}
    </Field>
  );
}
