/** Removes from this browser the conversations and drafts of a person who signs out. The look of the pages stays. */

export const conversationPrefix = 'lodge.chat:';
const listeners = new Set<() => void>();

/** Calls when the person signs out, to forget what is in memory. */
export function onForget(listener: () => void): void {
  listeners.add(listener);
}

export function forget(): void {
  for (const listener of listeners) listener();
  try {
    sessionStorage.clear();
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(conversationPrefix)) localStorage.removeItem(key);
    }
  } catch {
    // The browser refuses storage: nothing is kept there.
  }
}
