import { Type } from 'typebox';
import type { Static } from 'typebox';
import {
  clientAuthMethods,
  connectionBounds,
  connectionKinds,
  connectionMethods,
  connectionOAuthStatuses,
  hostBounds,
  maxVariableName,
  oauthBounds,
  variableNamePattern,
} from '@lodge/domain';
import { AgentParams } from './agent-requests.ts';
import { onlyWhere, unless, where, withRules } from '../rules.ts';
import { Timestamp, nullable, oneOf, patterns, wholeList } from '../text.ts';
import { SecretFingerprint } from '../fingerprints.ts';

const kind = oneOf(connectionKinds, {
  description:
    '`mcp`: a server of the Model Context Protocol over streamable HTTP; the agent has its tools. `http`: any HTTP service; the agent sends it requests, as far as `allow` goes. `host`: hosts that programs in the machine reach by https under their own names, with placeholders in the place of secrets.',
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
        description: "Below the connection's `url`, or the hosts: whole paths, or `/…/*` for all that is below one.",
      },
    ),
  },
  { title: 'ConnectionAllow', additionalProperties: false },
);

const allow = Type.Array(Allow, {
  maxItems: connectionBounds.allow,
  description:
    'For `http` and `host`: what may be asked. Nothing else is, and one entry must name both the method and the path.',
});
const tools = nullable(
  Type.Array(Type.String({ minLength: 1, maxLength: connectionBounds.toolNameChars, pattern: patterns.text }), {
    maxItems: connectionBounds.tools,
    description: "For `mcp`: the tools that the agent has, by the server's names; null: all of them.",
    examples: [['search_issues']],
  }),
);

const hosts = Type.Array(
  Type.String({ minLength: 1, maxLength: hostBounds.hostChars, pattern: patterns.text, examples: ['api.github.com'] }),
  {
    maxItems: hostBounds.hosts,
    description:
      'For `host`: whole names of hosts, without wildcards. In the machine they lead to Lodge, and no others do.',
  },
);
const secretHeaders = Type.Array(
  Type.String({
    minLength: 1,
    maxLength: connectionBounds.headerNameChars,
    pattern: patterns.headerName,
    examples: ['authorization'],
  }),
  {
    minItems: 1,
    maxItems: hostBounds.headers,
    description: 'Headers in which the placeholder is replaced, and no others.',
  },
);

const SetSecret = Type.Object(
  {
    set: Type.Literal(true),
    last4: Type.String(),
    fingerprint: SecretFingerprint,
    in: secretHeaders,
    placeholder: Type.String({
      description: 'The value of the variable in the machine. It is no secret.',
      examples: ['lodge-secret-github-token-3q8zk1x0m5v7b2n9'],
    }),
    created_at: Timestamp,
  },
  { additionalProperties: false },
);

const SetHeader = Type.Object(
  { set: Type.Literal(true), last4: Type.String(), fingerprint: SecretFingerprint, created_at: Timestamp },
  { additionalProperties: false },
);

const clientId = nullable(
  Type.String({
    minLength: 1,
    maxLength: oauthBounds.clientIdChars,
    pattern: patterns.token,
    description:
      'A client that you made at the authorization server, which `http` and `host` need; null: one is registered with each consent.',
    examples: ['Iv1.8a61f9b3a7aba766'],
  }),
);
const scope = nullable(
  Type.String({
    minLength: 1,
    maxLength: oauthBounds.scopeChars,
    pattern: patterns.scope,
    description: 'What is asked for; null: what the server names.',
    examples: ['issues:read issues:write'],
  }),
);

const endpoint = (description: string, example: string) =>
  nullable(
    Type.String({
      minLength: 1,
      maxLength: oauthBounds.urlChars,
      pattern: patterns.webUrl,
      description,
      examples: [example],
    }),
  );
const authorizationUrl = endpoint(
  'For `http` and `host`: where the authorization server asks a person. Its query may have what that server wants beside OAuth, such as `access_type=offline`.',
  'https://auth.example.com/authorize?access_type=offline',
);
const tokenUrl = endpoint(
  'For `http` and `host`: where the authorization server gives and renews access. A stored client secret goes to no other address.',
  'https://auth.example.com/token',
);
const clientAuth = nullable(
  oneOf(clientAuthMethods, {
    description:
      'For `http` and `host`: how the client shows its secret, in a header or in the body; null: in a header.',
  }),
);

const ConnectionAuth = Type.Object(
  {
    kind: Type.Literal('oauth'),
    client_id: clientId,
    client_secret: nullable(
      Type.Object(
        { set: Type.Literal(true), last4: Type.String(), fingerprint: SecretFingerprint },
        { additionalProperties: false },
      ),
    ),
    scope,
    authorization_url: authorizationUrl,
    token_url: tokenUrl,
    client_auth: clientAuth,
  },
  { title: 'ConnectionAuth', additionalProperties: false },
);

const ConnectionOAuth = Type.Object(
  {
    status: oneOf(connectionOAuthStatuses, {
      description:
        '`needed`: somebody must consent before the connection can be used. `connected`: there is access, and the host renews it. `failed`: it could not be renewed for now; the next call tries again.',
    }),
    reason: nullable(Type.String({ description: 'Why it is not `connected`, where there is more to say.' })),
    scope: nullable(Type.String({ description: 'What was granted.' })),
    expires_at: nullable({
      ...Timestamp,
      description: 'When the present access ends, and is renewed before; null where nobody said.',
    }),
  },
  { title: 'ConnectionOAuth', additionalProperties: false },
);

export const Connection = Type.Object(
  {
    object: Type.Literal('connection'),
    agent_id: Type.String({ pattern: patterns.agentId, examples: ['k7d2m9q4x1ab'] }),
    name: Type.String({ examples: ['github'] }),
    kind,
    url: Type.String({ description: 'For `host`: of its first host.', examples: ['https://api.example.com/v1'] }),
    hosts,
    secrets: Type.Record(Type.String(), SetSecret, {
      description:
        'For `host`: secrets by the names of their variables, with the last four characters of their values.',
    }),
    headers: Type.Record(Type.String(), SetHeader, {
      description: 'Headers that are stored, by name, with the last four characters of their values.',
    }),
    allow,
    tools,
    auth: nullable(ConnectionAuth),
    oauth: nullable({
      ...ConnectionOAuth,
      description: 'How far a consent has come; null: none is needed, as far as the server has said.',
    }),
    enabled: Type.Boolean(),
    status_reason: nullable(
      Type.String({
        description:
          "Why Lodge disabled the connection: the server's answers held its credential. The next PUT clears it. Null: Lodge did not.",
      }),
    ),
    guest_path: nullable(
      Type.String({
        description:
          "For `http`: where programs in the agent's machine reach it, below `http://10.0.2.2:4000`. Null for `mcp` and `host`.",
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

const secrets = Type.Unsafe<Record<string, { value: string; in: string[] }>>({
  type: 'object',
  description:
    'For `host`: secrets by the names of variables, which hold placeholders in the machine. The host replaces a placeholder in the named headers alone; values are never given back. Left out, the stored ones stay; with further hosts they must be given again.',
  maxProperties: hostBounds.secrets,
  propertyNames: { type: 'string', minLength: 1, maxLength: maxVariableName, pattern: variableNamePattern },
  additionalProperties: {
    type: 'object',
    properties: {
      value: {
        type: 'string',
        minLength: 8,
        maxLength: hostBounds.secretChars,
        pattern: patterns.token,
        writeOnly: true,
      },
      in: secretHeaders,
    },
    required: ['value', 'in'],
    additionalProperties: false,
  },
  examples: [{ GITHUB_TOKEN: { value: 'ghp_1234567890abcdef', in: ['authorization'] } }],
});

const PutAuth = withRules(
  Type.Object(
    {
      kind: Type.Literal('oauth'),
      client_id: Type.Optional(clientId),
      client_secret: Type.Optional(
        nullable(
          Type.String({
            minLength: 1,
            maxLength: oauthBounds.clientSecretChars,
            pattern: patterns.token,
            writeOnly: true,
            description: "The client's secret, never given back. Left out, the stored one of the same client stays.",
          }),
        ),
      ),
      scope: Type.Optional(scope),
      authorization_url: Type.Optional(authorizationUrl),
      token_url: Type.Optional(tokenUrl),
      client_auth: Type.Optional(clientAuth),
    },
    {
      title: 'PutConnectionAuth',
      additionalProperties: false,
      description:
        'Access by OAuth, with a consent that begins at `…/oauth/start`. A server of `mcp` names its authorization server; for `http` and `host` you name it, and give a client. Left out, what is stored stays; null takes it away. Another `url`, a further host, another client, authorization server or scope needs another consent.',
      examples: [{ kind: 'oauth' }],
    },
  ),
  {
    description: 'is of a client: give client_id too',
    ...unless(
      { properties: { client_id: { type: 'string' } }, required: ['client_id'] },
      { properties: { client_secret: { type: 'null' } } },
    ),
  },
);

/** Rules of an object, which let null pass. */
const namedServer = {
  properties: {
    client_id: { type: 'string' },
    authorization_url: { type: 'string' },
    token_url: { type: 'string' },
  },
  required: ['client_id', 'authorization_url', 'token_url'],
};
const foundServer = {
  properties: { authorization_url: { type: 'null' }, token_url: { type: 'null' }, client_auth: { type: 'null' } },
};

export const PutConnection = withRules(
  Type.Object(
    {
      kind,
      url: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: connectionBounds.urlChars,
          pattern: patterns.webUrl,
          description:
            'For `mcp` and `http`, where it is required. Without user, query and fragment. It must be `https`, unless the operator allows any address.',
          examples: ['https://api.example.com/v1'],
        }),
      ),
      hosts: Type.Optional(hosts),
      secrets: Type.Optional(secrets),
      headers: Type.Optional(headers),
      allow: Type.Optional(allow),
      tools: Type.Optional(tools),
      auth: Type.Optional(nullable(PutAuth)),
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
        {
          kind: 'host',
          hosts: ['api.github.com', 'github.com'],
          secrets: { GITHUB_TOKEN: { value: 'ghp_1234567890abcdef', in: ['authorization'] } },
          allow: [{ methods: ['GET'], paths: ['/*'] }],
        },
      ],
    },
  ),
  where('kind', 'mcp', { required: ['url'] }),
  where('kind', 'http', { required: ['url', 'allow'], properties: { allow: { minItems: 1 } } }),
  where('kind', 'host', {
    required: ['hosts', 'allow'],
    properties: { hosts: { minItems: 1 }, allow: { minItems: 1 }, headers: { maxProperties: 0 } },
  }),
  where('kind', 'mcp', { properties: { allow: { maxItems: 0 } } }),
  {
    description: 'is for the kinds mcp and http alone',
    ...where('kind', 'host', { properties: { url: { maxLength: 0 } } }),
  },
  onlyWhere('kind', 'host', { hosts: { maxItems: 0 }, secrets: { maxProperties: 0 } }),
  onlyWhere('kind', 'mcp', { tools: { type: 'null' } }),
  where('kind', 'http', { properties: { auth: namedServer } }),
  where('kind', 'mcp', { properties: { auth: foundServer } }),
  where('kind', 'host', { properties: { auth: namedServer } }),
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
