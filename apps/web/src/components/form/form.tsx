import { createContext, useContext } from 'react';
import type { ComponentProps } from 'react';
import type { useForm } from './use-form.ts';
import type { Typed } from './typed.ts';

const KeptContext = createContext<Typed | null>(null);

/** The text of before that is put back into the form around; null when there is none. */
export const useKeptText = (): Typed | null => useContext(KeptContext);

interface FormProps extends ComponentProps<'form'> {
  /** Gives the text of before up, where the form has no button for that. */
  readonly discard?: () => void;
  readonly form: Pick<ReturnType<typeof useForm>, 'props' | 'kept'>;
}

/** The element of a `useForm`. It says when it begins with text of before. */
export function Form({ form, discard, children, ...props }: FormProps) {
  return (
    <KeptContext value={form.kept}>
      <form {...props} {...form.props}>
        {form.kept !== null && (
          <p role="status" className="text-[0.8125rem] text-muted">
            Your unsaved text is back.{' '}
            {discard !== undefined && (
              <button type="button" onClick={discard} className="text-accent underline underline-offset-2">
                Discard it
              </button>
            )}
          </p>
        )}
        {children}
      </form>
    </KeptContext>
  );
}
