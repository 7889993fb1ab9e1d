/** All lines by which the product knows the runtime of this folder. */
import type { Edit } from '../edits.ts';

export const runtimeEdits: readonly Edit[] = [
  {
    file: 'packages/domain/src/runtime-kinds.ts',
    before: '} as const satisfies Readonly<Record<string, RuntimeAbilities>>;',
    lines:
      "  runtime_c: { name: 'parrot', title: 'Parrot', hasMembers: true, dashboardPort: 7000, hasBareModels: true, browserFrom: 'small' },",
  },
  {
    file: 'packages/runtimes/src/index.ts',
    lines: `import { createParrot } from '${new URL('parrot.ts', import.meta.url).href}';`,
  },
  {
    file: 'packages/runtimes/src/index.ts',
    before: '  runtime_a: createOpenclawRuntime,\n',
    lines: '  runtime_c: createParrot,',
  },
];
