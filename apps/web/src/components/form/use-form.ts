import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { FormEvent } from 'react';
import { useTyped } from './use-typed.ts';

export type Problems<Name extends string> = Partial<Record<Name, string>>;

interface FormOptions<Name extends string, Result> {
  /** Returns the problems before anything is sent, by the field's name. */
  readonly check: (data: FormData) => Problems<Name>;
  /** `before` is the form's data as it was opened, without secrets. */
  readonly send: (data: FormData, before: FormData) => Promise<Result>;
  readonly done: (result: Result) => void | Promise<void>;
  /** Receives a failed sending; by default it is shown as `failure`. True means that it was handled. */
  readonly failed?: (error: unknown) => boolean;
  /** A name for what is typed, with the ids that it belongs to. Without it nothing is kept in the browser. */
  readonly keep?: string;
}

/**
 * A form: checked on submit, with the first wrong field focused. It is sent once at a time, and its failure is kept for
 * display.
 */
export function useForm<Name extends string, Result>({ check, send, done, failed, keep }: FormOptions<Name, Result>) {
  const typed = useTyped(keep);
  const [problems, setProblems] = useState<Problems<Name>>({});
  const [failure, setFailure] = useState<unknown>();
  const sending = useRef(false);
  const mutation = useMutation({ mutationFn: (data: FormData) => send(data, typed.before()) });

  const submit = async (form: HTMLFormElement, data: FormData): Promise<void> => {
    sending.current = true;
    setFailure(undefined);
    try {
      const result = await mutation.mutateAsync(data);
      typed.saved(form);
      await done(result);
    } catch (error) {
      if (failed?.(error) !== true) setFailure(error);
    } finally {
      sending.current = false;
    }
  };

  const onSubmit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    if (sending.current) return;
    const form = event.currentTarget;
    const data = new FormData(form);
    const found = check(data);
    setProblems(found);
    const names = new Set(Object.keys(found));
    if (names.size === 0) {
      void submit(form, data);
      return;
    }
    const wrong = [...form.elements].find((element) => names.has(element.getAttribute('name') ?? ''));
    if (wrong instanceof HTMLElement) wrong.focus();
  };

  /** Clears a field's problem while the person corrects it. */
  const onInput = (event: FormEvent<HTMLFormElement>): void => {
    typed.note(event.currentTarget);
    const name = (event.target as Element).getAttribute('name') ?? '';
    if (name in problems) setProblems(({ [name as Name]: _put, ...rest }) => rest as Problems<Name>);
  };

  return {
    props: { ref: typed.ref, noValidate: true, onSubmit, onInput },
    kept: typed.kept,
    giveUp: () => typed.giveUp(),
    problems,
    failure,
    pending: mutation.isPending,
  };
}

export const text = (data: FormData, name: string): string => {
  const value = data.get(name);
  return typeof value === 'string' ? value : '';
};
