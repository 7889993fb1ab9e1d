/** The definition of a platform, as each has one: its settings, and the way to its adapter. */
import type { PlatformDefinition } from '@lodge/ports';
import { required, origin } from '@lodge/ports/settings';

const settings = {
  loft: required(
    'LODGE_PIGEON_LOFT',
    'http(s) URL without a path',
    'http://127.0.0.1:1',
    'Where pigeons land.',
    origin,
  ),
};

export const pigeon: PlatformDefinition<typeof settings> = {
  settings,
  async open({ loft }) {
    const { createPigeon } = await import('./pigeon.ts');
    return createPigeon(loft);
  },
};
