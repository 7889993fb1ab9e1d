import { useEffect, useState } from 'react';

/** Returns what this tab has kept under the key, or null. The browser may have no storage. */
export function keptAt(key: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? 'null') as unknown;
  } catch {
    return null;
  }
}

export function keepAt(key: string, value: unknown): void {
  try {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Without storage the value lives as long as the page.
  }
}

/**
 * A form's values, kept for this tab: they outlive an error, a reload and a new sign-in, until `drop`. Secrets do not belong
 * in them. `read` takes what was kept, maybe by another version of the page, or null.
 */
export function useKept<Value>(key: string, read: (kept: unknown) => Value) {
  const [kept] = useState(() => keptAt(key));
  const [value, setValue] = useState(() => read(kept));
  const empty = JSON.stringify(read(null));
  useEffect(() => keepAt(key, JSON.stringify(value) === empty ? null : value), [key, value, empty]);
  // The page may be left before the effect runs.
  const drop = (): void => {
    keepAt(key, null);
    setValue(read(null));
  };
  return { value, set: setValue, drop, wasKept: kept !== null };
}
