import { Eye, EyeOff } from 'lucide-react';
import { useId, useState } from 'react';
import type { ComponentProps, ReactNode } from 'react';
import { cx } from '../cx.ts';
import { useKeptText } from './form.tsx';

export const controlClass =
  'h-10 w-full min-w-0 rounded-control border border-control bg-surface px-3 text-base text-ink placeholder:text-muted aria-invalid:border-danger sm:h-9 sm:text-sm';

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly optional?: boolean;
}

interface Described {
  readonly id: string;
  readonly 'aria-invalid': true | undefined;
  readonly 'aria-describedby': string | undefined;
}

/** A label, a control, and below it a hint or the problem, connected for assistive technology. */
export function Field({
  label,
  hint,
  error,
  optional,
  children,
}: FieldProps & { children: (control: Described) => ReactNode }) {
  const id = useId();
  const noteId = `${id}-note`;
  const hasNote = error !== undefined || hint !== undefined;
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="font-medium">
        {label}
        {optional === true && <span className="font-normal text-muted"> (optional)</span>}
      </label>
      {children({
        id,
        'aria-invalid': error === undefined ? undefined : true,
        'aria-describedby': hasNote ? noteId : undefined,
      })}
      {hasNote && (
        <p id={noteId} className={cx('text-[0.8125rem]', error === undefined ? 'text-muted' : 'text-danger')}>
          {error ?? hint}
        </p>
      )}
    </div>
  );
}

export function TextField({ label, hint, error, optional, className, ...props }: FieldProps & ComponentProps<'input'>) {
  return (
    <Field label={label} hint={hint} error={error} optional={optional ?? false}>
      {(control) => (
        <input type="text" {...props} {...control} className={cx(controlClass, 'read-only:bg-sunken', className)} />
      )}
    </Field>
  );
}

export function SelectField({ label, hint, error, className, ...props }: FieldProps & ComponentProps<'select'>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => <select {...props} {...control} className={cx(controlClass, 'px-2', className)} />}
    </Field>
  );
}

/** The hint of a secret, which first says that the browser did not keep it with the rest of the form. */
export function useSecretHint(name: string | undefined, hint: ReactNode): ReactNode {
  const isLost = useKeptText()?.secrets.includes(name ?? '') === true;
  if (!isLost) return hint;
  return <LostSecret>{hint}</LostSecret>;
}

/** Before the hint of a secret that was not kept with the text around it. */
export function LostSecret({ children }: { readonly children: ReactNode }) {
  return (
    <>
      <span className="text-ink">Secrets are not kept in the browser: enter it again.</span> {children}
    </>
  );
}

/** A password that can be shown, which is safer than typing it twice. */
export function PasswordField({ label, hint, error, ...props }: FieldProps & ComponentProps<'input'>) {
  const [shown, setShown] = useState(false);
  const Icon = shown ? EyeOff : Eye;
  return (
    <Field label={label} hint={useSecretHint(props.name, hint)} error={error}>
      {(control) => (
        <div className="relative">
          <input
            maxLength={256}
            spellCheck={false}
            autoCapitalize="none"
            {...props}
            {...control}
            data-secret=""
            type={shown ? 'text' : 'password'}
            className={cx(controlClass, 'pr-11')}
          />
          <button
            type="button"
            aria-label={shown ? `Hide ${label.toLowerCase()}` : `Show ${label.toLowerCase()}`}
            aria-pressed={shown}
            onClick={() => setShown(!shown)}
            className="absolute inset-y-1 right-1 flex w-9 items-center justify-center rounded-control text-muted hover:text-ink"
          >
            <Icon aria-hidden className="size-4" />
          </button>
        </div>
      )}
    </Field>
  );
}
