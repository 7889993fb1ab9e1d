/** All lines by which the product knows the resource of this folder. Its rooms are a folder of the product each. */
import type { Edit } from '../edits.ts';

const at = (file: string): string => new URL(file, import.meta.url).href;

export const resourceEdits: readonly Edit[] = [
  {
    file: 'packages/domain/src/resources.ts',
    lines: `import { noteErrors, noteEvents } from '${at('domain.ts')}';`,
  },
  { file: 'packages/domain/src/resources.ts', before: '  ...hookErrors,', lines: '  ...noteErrors,' },
  { file: 'packages/domain/src/resources.ts', before: '  ...hookEvents,', lines: '  ...noteEvents,' },
  {
    file: 'packages/store/src/resources.ts',
    lines: `import { noteTables } from '${at('store.ts')}';`,
  },
  { file: 'packages/store/src/resources.ts', before: '  hookTables,', lines: '  noteTables,' },
  {
    file: 'apps/server/src/resources/index.ts',
    lines: `import { notes } from '${at('server.ts')}';`,
  },
  { file: 'apps/server/src/resources/index.ts', before: '  hooks,', lines: '  notes,' },
];
