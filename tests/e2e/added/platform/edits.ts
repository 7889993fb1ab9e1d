/** All lines by which the product knows the platform of this folder. */
import type { Edit } from '../edits.ts';

export const platformEdits: readonly Edit[] = [
  {
    file: 'packages/domain/src/channels/platforms.ts',
    before: '} as const satisfies Readonly<Record<string, PlatformRow>>;',
    lines: `  pigeon: {
    title: 'Pigeon',
    credentials: { botToken: { example: 'coo-1' } },
    hasProgress: false,
    hasButtons: false,
    tokens: [/coo-[a-z]{8,}/],
  },`,
  },
  {
    file: 'packages/channels/src/index.ts',
    lines: `import { pigeon } from '${new URL('index.ts', import.meta.url).href}';`,
  },
  {
    file: 'packages/channels/src/index.ts',
    before: '  telegram,\n',
    lines: '  pigeon,',
  },
];
