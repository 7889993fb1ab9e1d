/**
 * The text that a person has typed into a form, kept for this tab while it is neither saved nor given up: it outlives an error,
 * a reload and a new sign-in. Secrets are never kept, only the names of their fields.
 */
import { accountNow } from '../../api.ts';
import { keepAt, keptAt } from './use-kept.ts';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
type Entry = readonly [name: string, value: string];

interface FieldState {
  readonly name: string;
  readonly value: string;
  /** Whether a box or a choice is on. */
  readonly checked?: boolean;
}

export interface Typed {
  /** The form's data as it was opened, to tell what the person changed. */
  readonly before: readonly Entry[];
  readonly fields: readonly FieldState[];
  /** Names of the secret fields that were filled. */
  readonly secrets: readonly string[];
}

/** Another person who signs in to the same tab has drafts of their own. */
const keyOf = (name: string): string => `lodge:form:${accountNow() ?? ''}:${name}`;

export function typedAt(name: string): Typed | null {
  const kept = keptAt(keyOf(name)) as Partial<Typed> | null;
  const fits = [kept?.before, kept?.fields, kept?.secrets].every(Array.isArray);
  return fits ? (kept as Typed) : null;
}

export const keepTyped = (name: string, typed: Typed | null): void => keepAt(keyOf(name), typed);

const isControl = (element: Element): element is Control =>
  element instanceof HTMLInputElement || element instanceof HTMLSelectElement || element instanceof HTMLTextAreaElement;

const isSecret = (control: Control): boolean => 'secret' in control.dataset || control.type === 'password';

const isTicked = (control: Control): control is HTMLInputElement =>
  control instanceof HTMLInputElement && (control.type === 'checkbox' || control.type === 'radio');

const controlsOf = (form: HTMLFormElement): Control[] =>
  [...form.elements]
    .filter(isControl)
    .filter(
      (control) =>
        control.name !== '' &&
        control.type !== 'hidden' &&
        control.type !== 'file' &&
        !control.disabled &&
        !('readOnly' in control && control.readOnly),
    );

/** The form's texts by name, without those of secrets. */
export function entriesOf(form: HTMLFormElement): readonly Entry[] {
  const secrets = new Set([...form.elements].filter((one) => isControl(one) && isSecret(one)).map(nameOf));
  return [...new FormData(form)].filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && !secrets.has(entry[0]),
  );
}

const nameOf = (element: Element): string => element.getAttribute('name') ?? '';

export function dataOf(entries: readonly Entry[]): FormData {
  const data = new FormData();
  for (const [name, value] of entries) data.append(name, value);
  return data;
}

export function typedIn(form: HTMLFormElement, before: readonly Entry[]): Typed {
  const controls = controlsOf(form);
  return {
    before,
    fields: controls
      .filter((control) => !isSecret(control))
      .map((control) => ({
        name: control.name,
        value: control.value,
        ...(isTicked(control) && { checked: control.checked }),
      })),
    secrets: controls.filter((control) => isSecret(control) && control.value !== '').map(({ name }) => name),
  };
}

/**
 * Puts kept values into the form as a person would, so that fields which depend on others appear. Those get theirs when they
 * are there. Returns how to stop.
 */
export function restore(form: HTMLFormElement, { fields }: Typed): () => void {
  let left = fields.map((field, index) => ({ field, nth: nthOf(fields, index) }));
  const fill = async (): Promise<void> => {
    for (const one of left) {
      const control = find(form, one.field, one.nth);
      if (control === undefined) continue;
      left = left.filter((other) => other !== one);
      put(control, one.field);
      // The page draws what the change brings before the next field is filled.
      await Promise.resolve();
    }
    if (left.length === 0) observer.disconnect();
  };
  const observer = new MutationObserver(() => void fill());
  observer.observe(form, { childList: true, subtree: true });
  queueMicrotask(() => void fill());
  return () => observer.disconnect();
}

/** Fields of one name are told apart by their order. */
const nthOf = (fields: readonly FieldState[], index: number): number =>
  fields.slice(0, index).filter(({ name }) => name === fields[index]?.name).length;

function find(form: HTMLFormElement, { name, value, checked }: FieldState, nth: number): Control | undefined {
  const named = controlsOf(form).filter((control) => control.name === name && !isSecret(control));
  return checked === undefined ? named[nth] : named.find((control) => control.value === value);
}

function put(control: Control, { value, checked }: FieldState): void {
  if (isTicked(control)) {
    // A choice is taken back by choosing another.
    if (control.checked !== checked && (checked === true || control.type === 'checkbox')) control.click();
    return;
  }
  if (control.value === value) return;
  // React does not hear of a value that is set on the element itself.
  Reflect.set(Object.getPrototypeOf(control) as object, 'value', value, control);
  control.dispatchEvent(new Event('input', { bubbles: true }));
  control.dispatchEvent(new Event('change', { bubbles: true }));
}
