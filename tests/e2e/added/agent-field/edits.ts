/** All lines by which the product knows a further field of the agent. Those of the table's types are written by the generator. */
import type { Edit } from '../edits.ts';

const contract = 'packages/contract/src/agents';
const tables = 'packages/store/src/database/tables.ts';

export const fieldEdits: readonly Edit[] = [
  {
    file: `${contract}/agent.ts`,
    before: '    settings_pending:',
    lines: "    nickname: nullable(Type.String({ description: 'A short name.' })),",
  },
  {
    file: `${contract}/agent-requests.ts`,
    before: '  instructions: Type.Optional(Instructions),',
    lines: '  nickname: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 40, pattern: patterns.text }))),',
  },
];

/** As `scripts/docs.ts` writes them. */
export const generatedEdits: readonly Edit[] = [
  { file: tables, before: '  operationCause: domain.OperationCause | null;', lines: '  nickname: string | null;' },
  { file: tables, before: "    'account_id',", lines: "    'nickname'," },
];
