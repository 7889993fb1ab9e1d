import { useCallback, useRef, useState } from 'react';
import { dataOf, entriesOf, keepTyped, restore, typedAt, typedIn } from './typed.ts';

/**
 * Keeps what is typed into a form under this name until it is saved or given up, and puts it back when the form is there again.
 * Without a name nothing is kept.
 */
export function useTyped(name: string | undefined) {
  const [kept] = useState(() => (name === undefined ? null : typedAt(name)));
  const before = useRef(kept?.before ?? []);
  const ref = useCallback(
    (form: HTMLFormElement) => {
      if (kept !== null) return restore(form, kept);
      before.current = entriesOf(form);
      return () => undefined;
    },
    [kept],
  );
  return {
    kept,
    ref,
    before: (): FormData => dataOf(before.current),
    note(form: HTMLFormElement): void {
      if (name === undefined) return;
      const typed = typedIn(form, before.current);
      const isAsBefore =
        typed.secrets.length === 0 && JSON.stringify(entriesOf(form)) === JSON.stringify(before.current);
      keepTyped(name, isAsBefore ? null : typed);
    },
    /** It is saved. A form that stays goes on from there. */
    saved(form: HTMLFormElement): void {
      if (name !== undefined) keepTyped(name, null);
      before.current = entriesOf(form);
    },
    giveUp(): void {
      if (name !== undefined) keepTyped(name, null);
    },
  };
}

/**
 * The key of a form that stays on its page. It changes with the record while nothing is typed, so that the form shows what is
 * saved. `again` gives up what is typed.
 */
export function useFormKey(record: unknown, name: string): readonly [key: string, again: () => void] {
  const now = JSON.stringify(record) ?? '';
  const [shown, setShown] = useState(now);
  const [round, setRound] = useState(0);
  if (shown !== now && typedAt(name) === null) setShown(now);
  const again = (): void => {
    keepTyped(name, null);
    setShown(now);
    setRound(round + 1);
  };
  return [`${round} ${shown}`, again];
}

/**
 * Whether a dialog is open. One in which something was typed opens by itself, after a reload or a new sign-in. Closing it gives
 * up the text.
 */
export function useOpen(name: string): readonly [isOpen: boolean, setOpen: (isOpen: boolean) => void] {
  const [isOpen, setOpen] = useState(() => typedAt(name) !== null);
  return [
    isOpen,
    (next) => {
      if (!next) keepTyped(name, null);
      setOpen(next);
    },
  ];
}
