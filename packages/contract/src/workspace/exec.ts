import { Type } from 'typebox';
import type { Static } from 'typebox';
import { ChatQuery } from '../agents/agent-requests.ts';
import { ErrorBody } from '../errors.ts';
import { namedEvent, streamOf } from '../events/stream.ts';
import { machineUsers } from '@lodge/domain';
import { exactlyOneOf, withRules } from '../rules.ts';
import { nullable, oneOf, patterns } from '../text.ts';

export const defaultExecSeconds = 60;
const maxExecSeconds = 600;
const maxTerminalSide = 1000;

const plain = (maxLength: number, description: string) =>
  Type.String({ maxLength, pattern: patterns.text, description });

const user = (what: string) =>
  Type.Optional(
    oneOf(machineUsers, {
      default: 'agent',
      description: `Whom ${what} runs as: the agent’s own user, or \`root\` of its machine, which is written to the audit log and counts among the key’s changes, too.`,
    }),
  );

export const ExecRequest = withRules(
  Type.Object(
    {
      command: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 100_000,
          pattern: patterns.text,
          description: 'A line for the shell (`bash -c`). Either this or `argv`.',
          examples: ['ls -la'],
        }),
      ),
      argv: Type.Optional(
        Type.Array(plain(100_000, 'A word.'), {
          minItems: 1,
          maxItems: 1000,
          allOf: [{ prefixItems: [{ minLength: 1 }] }],
          description: 'A program and its arguments, without a shell. Either this or `command`.',
        }),
      ),
      cwd: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 4096,
          pattern: patterns.text,
          description: 'Folder to run in; a relative one is within the workspace, which is the default.',
        }),
      ),
      env: Type.Optional(
        Type.Unsafe<Record<string, string>>({
          type: 'object',
          description: 'Variables, beside those that every command has.',
          maxProperties: 100,
          propertyNames: { type: 'string', minLength: 1, maxLength: 200, pattern: '^[^=\\u0000]+$' },
          additionalProperties: { type: 'string', maxLength: 32_768, pattern: patterns.text },
        }),
      ),
      user: user('the command'),
      stdin: Type.Optional(Type.String({ maxLength: 1_000_000, description: 'What the command reads.' })),
      timeout_seconds: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: maxExecSeconds,
          default: defaultExecSeconds,
          description: 'Then it is killed with all that it has started.',
        }),
      ),
      stream: Type.Optional(nullable(Type.Boolean({ description: 'Answer as server-sent events.' }))),
    },
    {
      title: 'ExecRequest',
      additionalProperties: false,
      examples: [{ command: 'ls -la' }, { argv: ['wc', '-l', 'notes.md'], timeout_seconds: 30, stream: true }],
    },
  ),
  exactlyOneOf('command', 'argv'),
);
export type ExecRequest = Static<typeof ExecRequest>;

const outcome = {
  exit_code: nullable(Type.Integer({ description: 'Null where a signal ended it.' })),
  signal: nullable(Type.String({ examples: ['SIGKILL'] })),
  timed_out: Type.Boolean(),
  truncated: Type.Boolean({ description: 'There was more output than is given.' }),
  duration_ms: Type.Integer({ minimum: 0 }),
};

export const ExecResult = Type.Object(
  {
    object: Type.Literal('exec'),
    ...outcome,
    stdout: Type.String({ description: 'Up to 1 MiB, as UTF-8.' }),
    stderr: Type.String({ description: 'Up to 1 MiB, as UTF-8.' }),
  },
  { title: 'ExecResult', additionalProperties: false },
);
export type ExecResult = Static<typeof ExecResult>;

const Output = Type.Object({ text: Type.String() }, { additionalProperties: false });

export const ExecStreamEvent = streamOf('ExecStreamEvent', [
  namedEvent('stdout', Output),
  namedEvent('stderr', Output),
  namedEvent('exit', Type.Object({ object: Type.Literal('exec'), ...outcome }, { additionalProperties: false })),
  namedEvent('error', ErrorBody),
]);

const side = (byDefault: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: maxTerminalSide, default: byDefault, description });

export const TerminalQuery = Type.Object(
  {
    ...ChatQuery.properties,
    user: user('the shell'),
    cols: Type.Optional(side(80, 'Columns at the beginning.')),
    rows: Type.Optional(side(24, 'Rows at the beginning.')),
    term: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 40,
        pattern: '^[\\w.+-]+$',
        default: 'xterm-256color',
        description: 'Kind of terminal, for TERM.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type TerminalQuery = Static<typeof TerminalQuery>;

/** The JSON that a terminal's client may send. */
export const TerminalControl = Type.Object(
  {
    type: Type.Literal('resize'),
    cols: Type.Integer({ minimum: 1, maximum: maxTerminalSide }),
    rows: Type.Integer({ minimum: 1, maximum: maxTerminalSide }),
  },
  { additionalProperties: false },
);
