import { Search } from 'lucide-react';
import { openPalette } from './palette/palette.tsx';

const isMac = navigator.platform.startsWith('Mac');

/** Opens the command palette, and shows its key. */
export function FindButton({ onOpen }: { onOpen?: () => void }) {
  return (
    <button
      type="button"
      onClick={() => {
        onOpen?.();
        dispatchEvent(new Event(openPalette));
      }}
      className="flex h-9 items-center gap-2.5 rounded-control border border-line bg-sunken px-3 text-muted transition-colors hover:bg-hover hover:text-ink"
    >
      <Search aria-hidden className="size-4" />
      <span className="grow text-left">Find</span>
      <kbd aria-hidden className="font-mono text-xs">
        {isMac ? '⌘K' : 'Ctrl K'}
      </kbd>
    </button>
  );
}
