import { Type } from 'typebox';
import type { Static } from 'typebox';
import { connectionBounds, connectionKinds, connectionMethods } from '@lodge/domain';
import { AgentParams } from './agent-requests.ts';
import { Timestamp, nullable, oneOf, patterns, wholeList } from '../text.ts';

const kind = oneOf(connectionKinds, {
  description:
    '`mcp`: a server of the Model Context Protocol over streamable HTTP; the agent has its tools. `http`: any HTTP service; the agent sends it requests, as far as `allow` goes.',
});

const Allow = Type.Object(
  {
    methods: Type.Array(oneOf(connectionMethods), { minItems: 1, maxItems: connectionMethods.length }),
    paths: Type.Array(
      Type.String({
        minLength: 1,
        maxLength: connectionBounds.pathChars,
        pattern: patterns.text,
        examples: ['/notes/*'],
      }),
      {
        minItems: 1,
        maxItems: connectionBounds.paths,
        description: "Below the connection's `url`: whole paths, or `/…/*` for all that is below one.",
      },
    ),
  },
  { title: 'ConnectionAllow', additionalProperties: false },
);

const allow = Type.Array(Allow, {
  maxItems: connectionBounds.allow,
  description: 'For `http`: what may be asked. Nothing else is, and one entry must name both the method and the path.',
});
const tools = nullable(
  Type.Array(Type.String({ minLength: 1, maxLength: connectionBounds.toolNameChars, pattern: patterns.text }), {
    maxItems: connectionBounds.tools,
    description: "For `mcp`: the tools that the agent has, by the server's names; null: all of them.",
    examples: [['search_issues']],
  }),
);

const SetHeader = Type.Object(
  { set: Type.Literal(true), last4: Type.String(), created_at: Timestamp },
  { additionalProperties: false },
);

export const Connection = Type.Object(
  {
    object: Type.Literal('connection'),
    agent_id: Type.String({ pattern: patterns.agentId, examples: ['k7d2m9q4x1ab'] }),
    name: Type.String({ examples: ['github'] }),
    kind,
    url: Type.String({ examples: ['https://api.example.com/v1'] }),
    headers: Type.Record(Type.String(), SetHeader, {
      description: 'Headers that are stored, by name, with the last four characters of their values.',
    }),
    allow,
    tools,
    enabled: Type.Boolean(),
    guest_path: nullable(
      Type.String({
        description:
          "For `http`: where programs in the agent's machine reach it, below `http://10.0.2.2:4000`. Null for `mcp`.",
        examples: ['/connections/notes'],
      }),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Connection', additionalProperties: false },
);
export type Connection = Static<typeof Connection>;

export const ConnectionList = wholeList(Connection, 'ConnectionList');

const headers = Type.Unsafe<Record<string, string>>({
  type: 'object',
  description:
    'Added by the host to each request, and never given back. Left out, the stored ones stay; with another `url` they must be given again.',
  maxProperties: connectionBounds.headers,
  propertyNames: {
    type: 'string',
    minLength: 1,
    maxLength: connectionBounds.headerNameChars,
    pattern: patterns.headerName,
  },
  additionalProperties: {
    type: 'string',
    minLength: 1,
    maxLength: connectionBounds.headerValueChars,
    pattern: patterns.headerValue,
    writeOnly: true,
  },
  examples: [{ Authorization: 'Bearer ntn_1234' }],
});

export const PutConnection = Type.Object(
  {
    kind,
    url: Type.String({
      minLength: 1,
      maxLength: connectionBounds.urlChars,
      pattern: patterns.webUrl,
      description: 'Without user, query and fragment. It must be `https`, unless the operator allows any address.',
      examples: ['https://api.example.com/v1'],
    }),
    headers: Type.Optional(headers),
    allow: Type.Optional(allow),
    tools: Type.Optional(tools),
    enabled: Type.Optional(Type.Boolean({ default: true, description: 'False: kept, and not used.' })),
  },
  {
    title: 'PutConnection',
    additionalProperties: false,
    examples: [
      {
        kind: 'http',
        url: 'https://api.example.com/v1',
        headers: { Authorization: 'Bearer ntn_1234' },
        allow: [{ methods: ['GET'], paths: ['/notes/*'] }],
      },
    ],
  },
);
export type PutConnection = Static<typeof PutConnection>;

export const ConnectionParams = Type.Object({
  ...AgentParams.properties,
  name: Type.String({
    description: 'Lower case letters, digits and hyphens, a letter first, at most 32.',
    examples: ['github'],
  }),
});

export const DeletedConnection = Type.Object(
  { object: Type.Literal('connection.deleted'), name: Type.String(), deleted: Type.Literal(true) },
  { title: 'DeletedConnection', additionalProperties: false },
);
