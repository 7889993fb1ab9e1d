/** Messages at the top, where no button is, that something was done. Their list is loaded with the first. */
import { Suspense, lazy, useSyncExternalStore } from 'react';

export interface Message {
  readonly id: number;
  readonly text: string;
}

const most = 3;
let messages: readonly Message[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function update(next: readonly Message[]): void {
  messages = next;
  for (const listener of listeners) listener();
}

/** Shows at the top that something was done, and reads it out. A failure is shown at its place instead. */
export function toast(words: string): void {
  lastId += 1;
  update([...messages, { id: lastId, text: words }].slice(-most));
}

const dismiss = (id: number): void => update(messages.filter((message) => message.id !== id));

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

const ToastList = lazy(async () => ({ default: (await import('./toast-list.tsx')).ToastList }));

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => messages);
  return <Suspense>{lastId > 0 && <ToastList messages={shown} dismiss={dismiss} />}</Suspense>;
}
