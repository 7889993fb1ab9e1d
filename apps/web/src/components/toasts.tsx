import { CircleCheck, X } from 'lucide-react';
import { Toast } from 'radix-ui';
import { useSyncExternalStore } from 'react';

interface Message {
  readonly id: number;
  readonly text: string;
}

const shownMs = 6000;
const most = 3;
let messages: readonly Message[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function update(next: readonly Message[]): void {
  messages = next;
  for (const listener of listeners) listener();
}

/** Shows in a corner that something was done, and reads it out. A failure is shown at its place instead. */
export function toast(words: string): void {
  lastId += 1;
  update([...messages, { id: lastId, text: words }].slice(-most));
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => messages);
  return (
    <Toast.Provider duration={shownMs} label="Message">
      {shown.map((message) => (
        <Toast.Root
          key={message.id}
          onOpenChange={(open) => {
            if (!open) update(messages.filter(({ id }) => id !== message.id));
          }}
          className="pointer-events-auto flex animate-rise items-center gap-3 rounded-card border border-line bg-raised py-2.5 pr-2 pl-4 text-ink shadow-float"
        >
          <CircleCheck aria-hidden className="size-4 shrink-0 text-accent" />
          <Toast.Description className="min-w-0 grow wrap-anywhere">{message.text}</Toast.Description>
          <Toast.Close
            aria-label="Dismiss"
            className="flex size-8 items-center justify-center rounded-control text-muted hover:bg-hover hover:text-ink"
          >
            <X aria-hidden className="size-4" />
          </Toast.Close>
        </Toast.Root>
      ))}
      <Toast.Viewport className="pointer-events-none fixed right-0 bottom-0 z-50 flex w-full max-w-96 flex-col gap-2 p-4 outline-none" />
    </Toast.Provider>
  );
}
