/** Messages of the Model Context Protocol, as JSON-RPC has them. Each method's own parameters are the protocol's. */
import { Type } from 'typebox';
import type { Static, TSchemaOptions } from 'typebox';
import { plainEvent, streamOf } from '../events/stream.ts';
import { exactlyOneOf, goesWith, withRules } from '../rules.ts';
import { oneOf, patterns } from '../text.ts';

/** Revisions of the protocol that are spoken, newest first. */
export const mcpVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'] as const;

const maxIdChars = 256;

const idOf = (options: TSchemaOptions) =>
  Type.Unsafe<string | number>({
    type: ['string', 'integer'],
    maxLength: maxIdChars,
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    ...options,
  });

const anything = (description: string) => Type.Object({}, { additionalProperties: true, description });

const meta = Type.Object(
  { progressToken: Type.Optional(idOf({ description: 'Asks for `notifications/progress`.' })) },
  { additionalProperties: true },
);

const error = Type.Object(
  { code: Type.Integer(), message: Type.String() },
  { additionalProperties: true, description: 'Of a method that failed.' },
);

const jsonrpc = Type.Literal('2.0');

export const McpMessage = withRules(
  Type.Object(
    {
      jsonrpc,
      id: Type.Optional(idOf({ description: 'Of a request. A message without it is a notification.', examples: [1] })),
      method: Type.Optional(
        Type.String({ minLength: 1, maxLength: 100, pattern: patterns.text, examples: ['tools/call'] }),
      ),
      params: Type.Optional(
        Type.Object(
          { _meta: Type.Optional(meta) },
          { additionalProperties: true, description: "The method's own parameters." },
        ),
      ),
      result: Type.Optional(anything('Answers a question of the server, which asks none.')),
      error: Type.Optional(error),
    },
    {
      title: 'McpMessage',
      additionalProperties: false,
      examples: [
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'list_agents', arguments: { status: 'running' } },
        },
      ],
    },
  ),
  exactlyOneOf('method', 'result', 'error'),
  goesWith('result', 'id'),
);
export type McpMessage = Static<typeof McpMessage>;

export const McpAnswer = Type.Object(
  {
    jsonrpc,
    id: Type.Optional(idOf({ description: "The request's." })),
    result: Type.Optional(anything('What the method gives.')),
    error: Type.Optional(error),
  },
  { title: 'McpAnswer', additionalProperties: false },
);

const McpNotification = Type.Object(
  {
    jsonrpc,
    method: Type.String({ examples: ['notifications/progress'] }),
    params: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  { additionalProperties: false },
);

export const McpStreamEvent = streamOf('McpStreamEvent', [plainEvent(McpAnswer), plainEvent(McpNotification)]);

export const McpHeaders = Type.Object({
  'mcp-protocol-version': Type.Optional(
    oneOf(mcpVersions, { description: 'The revision that `initialize` has agreed on.' }),
  ),
  'mcp-session-id': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      pattern: patterns.token,
      description:
        'As the reply to `initialize` gave it. Nothing is kept by it: `notifications/cancelled` finds its request by it.',
    }),
  ),
});
