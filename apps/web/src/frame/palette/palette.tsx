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
    const showKeys = (): void => setOpen('keys');
    addEventListener(openPalette, show);
    addEventListener(openKeys, showKeys);
    return () => {
      removeEventListener(openPalette, show);
      removeEventListener(openKeys, showKeys);
    };
  }, []);
  const close = (): void => setOpen(null);
  return (
    <Suspense>
      {open === 'palette' && <PaletteDialog onClose={close} />}
      {open === 'keys' && <KeysDialog onClose={close} />}
    </Suspense>
  );
}

/** Events of the window that open the palette and the list of keys, for their buttons. */
export const openPalette = 'lodge:palette';
export const openKeys = 'lodge:keys';
