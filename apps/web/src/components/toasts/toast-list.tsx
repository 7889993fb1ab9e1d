import { CircleCheck, X } from 'lucide-react';
import { Toast } from 'radix-ui';
import type { Message } from './toasts.tsx';

const shownMs = 6000;

interface ToastListProps {
  readonly messages: readonly Message[];
  readonly dismiss: (id: number) => void;
}

export function ToastList({ messages, dismiss }: ToastListProps) {
  return (
    <Toast.Provider duration={shownMs} label="Message">
      {messages.map((message) => (
        <Toast.Root
          key={message.id}
          onOpenChange={(open) => {
            if (!open) dismiss(message.id);
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
      <Toast.Viewport className="pointer-events-none fixed top-14 left-1/2 z-50 flex w-full max-w-96 -translate-x-1/2 flex-col gap-2 px-4 pt-2 outline-none lg:top-0 lg:left-[calc(50%+7.5rem)]" />
    </Toast.Provider>
  );
}
