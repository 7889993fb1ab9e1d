/** The command palette and the list of keys. Their code comes with the first key. */
import { Suspense, lazy, useEffect, useState } from 'react';
import { useShortcuts } from './shortcuts.ts';

const PaletteDialog = lazy(async () => ({ default: (await import('./palette-dialog.tsx')).PaletteDialog }));
const KeysDialog = lazy(async () => ({ default: (await import('./keys-dialog.tsx')).KeysDialog }));

type Open = 'palette' | 'keys' | null;

export function Palette() {
  const [open, setOpen] = useState<Open>(null);
  useShortcuts({ palette: () => setOpen('palette'), keys: () => setOpen('keys') });
  useEffect(() => {
    const show = (): void => setOpen('palette');
    addEventListener(openPalette, show);
    return () => removeEventListener(openPalette, show);
  }, []);
  const close = (): void => setOpen(null);
  return (
    <Suspense>
      {open === 'palette' && <PaletteDialog onClose={close} />}
      {open === 'keys' && <KeysDialog onClose={close} />}
    </Suspense>
  );
}

/** An event of the window that opens the palette, for its button. */
export const openPalette = 'lodge:palette';
