import type { ErrorCode } from '@lodge/domain';
import { errorCodes, scopes } from '@lodge/domain';
import { ErrorBody, OAuthErrorBody, errorBody } from '@lodge/contract';
import swagger from '@fastify/swagger';
import type { FastifySchema, RouteOptions } from 'fastify';
import type { App } from '../app-types.ts';
import { oauthErrorBody } from '../routes/oauth/form.ts';
import { withComponents } from './components.ts';
import type { Json } from './components.ts';

/** Makes the OpenAPI document from the routes' own schemas; `app.swagger()` gives it once the app is ready. */
export function registerOpenApi(app: App): void {
  app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Lodge', version: 'v1', description },
      servers: [{ url: '/', description: 'This service' }],
      tags: [
        { name: 'Agents', description: 'Create, read, change, start, stop and delete agents, and read their logs.' },
        { name: 'Chat', description: 'Talk to agents as an OpenAI client does: agents are the models.' },
        { name: 'Members', description: 'Further agents in the machine of one.' },
        { name: 'Addresses', description: "Agents' own addresses: links for browsers, and published ports." },
        { name: 'Browser', description: 'The browser in the machine of an agent, and its mouse and keyboard.' },
        { name: 'Channels', description: 'Messaging platforms that an agent answers on.' },
        { name: 'Schedules', description: 'What an agent is told by itself, and when.' },
        { name: 'Hooks', description: "Addresses at which third parties' requests become messages to an agent." },
        { name: 'Connections', description: 'Services that an agent uses without holding their credentials.' },
        {
          name: 'Confirmations',
          description: "Calls of agents that wait for somebody's yes, and questions to their owners.",
        },
        { name: 'Skills', description: 'Folders of instructions and scripts that agents can be given.' },
        { name: 'Snapshots', description: 'Machines of agents as they were, to go back to and to begin from.' },
        { name: 'Usage', description: 'What agents used and what it cost.' },
        { name: 'Files', description: "Read and change what is in an agent's workspace." },
        { name: 'Shell', description: "Run commands in an agent's machine, and open terminals on it." },
        { name: 'Audit', description: 'Who did what.' },
        { name: 'Events', description: 'What happened.' },
        { name: 'Webhooks', description: 'Events, sent to a server of yours.' },
        { name: 'Sign-in', description: 'How programs get a key or a token that a person gives them.' },
        { name: 'MCP', description: 'The API as tools for models.' },
        { name: 'Service', description: 'What this deployment offers.' },
        {
          name: 'Account area',
          description:
            'Signing in, and what a person signed in sets: for the pages of the service. Most of it takes a session; no API key may do it.',
        },
      ],
      components: {
        securitySchemes: {
          apiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'X-API-Key',
            description: `Wins when both are sent. ${scopeList}`,
          },
          bearer: { type: 'http', scheme: 'bearer', description: 'The same key, as OpenAI clients send it.' },
          session: { type: 'apiKey', in: 'cookie', name: '__Host-lodge_session', description: sessionText },
        },
      },
    },
    convertConstToEnum: false,
    // A path with a star has one more parameter, of several segments.
    transform: ({ schema, url, route }) => ({
      schema: describe(schema ?? {}, route),
      url: url.replace(/\*$/, ':path'),
    }),
    transformObject: (document) =>
      'openapiObject' in document ? withComponents(document.openapiObject as unknown as Json) : document.swaggerObject,
  });
}

const scopeList = `Scopes: ${Object.entries(scopes)
  .map(([scope, grants]) => `\`${scope}\` ${grants}`)
  .join(' ')}`;

const description = `Creates, runs and manages AI agents, each in a virtual machine of its own.

Any OpenAI client works with \`<base URL>/v1\` (agents are the models) or \`<base URL>/v1/agents/<id>\`.
Errors are \`{"error": {"type", "code", "message"}}\`; further facts are in headers. Every reply carries \`X-Request-Id\`.
A stream (\`text/event-stream\`) is described by what each of its events is, by the fields of the event stream format; comments may come at any time.
Rate limits are counted per key or session (reads, writes, creates and calls each on their own) and, without a valid one, per address; \`X-RateLimit-*\` says where one stands.
Unknown fields and query parameters are refused, except where a third party sends to a hook. New fields may appear in replies, and new error codes and scopes, within v1.`;

const sessionText =
  "A person signed in, with the scopes of their role; for pages of the service itself. A request with a key counts as the key's. Every change carries the session's `csrf_token` in `X-CSRF-Token`. Over plain http the cookie's name is `lodge_session`.";

const allCodes = Object.keys(errorCodes) as ErrorCode[];

/** Codes that any route with a body, a key or scopes may answer with, beside its own. */
function codesOf(route: RouteOptions, schema: FastifySchema): ErrorCode[] {
  const { config } = route;
  const codes = new Set<ErrorCode>([
    ...(schema.body || schema.querystring ? (['invalid_request'] as const) : []),
    ...(schema.body ? (['invalid_json', 'request_too_large', 'unsupported_media_type'] as const) : []),
    ...(config?.public
      ? []
      : ([
          'missing_api_key',
          'invalid_api_key',
          'revoked_api_key',
          'expired_api_key',
          'not_signed_in',
          'csrf_refused',
        ] as const)),
    ...(config?.ownPagesOnly ? (['csrf_refused'] as const) : []),
    ...(config?.scopes || config?.keyScope || config?.sessionOnly ? (['insufficient_scope'] as const) : []),
    ...(config?.errors ?? []),
    ...(isIdempotent(route) ? (['invalid_request', 'idempotency_key_reused', 'idempotency_in_progress'] as const) : []),
    'rate_limit_exceeded',
    'internal_error',
    'insufficient_capacity',
  ]);
  // In the table's order: the same codes are the same reply.
  return allCodes.filter((code) => codes.has(code));
}

const isIdempotent = ({ method, config }: RouteOptions): boolean =>
  [method].flat().includes('POST') && !config?.public && !config?.sessionOnly && !config?.passesOn;

const idempotencyKey = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  pattern: '^[\\x21-\\x7e]+$',
  description:
    'Makes the request safe to repeat for 24 hours: the same request with the same key has its effect once, and its reply is given again, with `Idempotent-Replayed: true`. Replies with 409, 429 or most 5xx are not kept: then the request is tried anew. An account keeps 64 MiB of replies and 100,000 keys; beyond that the oldest go first, and no key within an hour (429 `quota_exceeded` then). A repeated request whose reply is not kept gets 409, and is not carried out again. A chat that streams is carried out once; its reply is not given again (409). A chat whose server was killed in its midst is carried out anew.',
};

const anyBytes = {
  content: {
    'application/octet-stream': { schema: { type: 'string', format: 'binary', examples: ['{"greeting":"Hello"}\n'] } },
  },
};

/** Headers of the request, with those that every route of its method takes. */
function requestHeaders(schema: FastifySchema, route: RouteOptions): object | undefined {
  const own = schema.headers as { readonly properties?: object } | undefined;
  if (!isIdempotent(route)) return own;
  return { type: 'object', ...own, properties: { ...own?.properties, 'Idempotency-Key': idempotencyKey } };
}

/** Adds to a route's schema the consequences of its configuration: keys, scopes and errors with an example of each. */
function describe(schema: FastifySchema, route: RouteOptions): FastifySchema {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codesOf(route, schema)) {
    const { status } = errorCodes[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const errors = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, codes]) => [status, errorReply(codes, route.config?.oauthErrors ?? false)] as const);
  const scopesWanted = route.config?.scopes?.map((scope) => `\`${scope}\``).join(' or ');
  const keyScope = route.config?.keyScope;
  const texts = [
    schema.description,
    scopesWanted && `Scope: ${scopesWanted}.`,
    keyScope && `An API key needs the scope \`${keyScope}\`; every person signed in may do it.`,
  ];
  const text = texts.filter(Boolean).join('\n\n');
  return {
    ...schema,
    ...(text && { description: text }),
    ...(route.config?.bytes && { body: anyBytes }),
    ...queryRules(schema),
    headers: requestHeaders(schema, route),
    security: securityOf(route),
    response: { ...(schema.response as object), ...Object.fromEntries(errors) },
  };
}

/** OpenAPI 3.1 has no word for rules between parameters: they are an extension, of the query as one object. */
function queryRules({ querystring }: FastifySchema): object {
  const { allOf } = (querystring ?? {}) as { readonly allOf?: unknown };
  return allOf === undefined ? {} : { 'x-query-rules': allOf };
}

function securityOf({ config }: RouteOptions): Record<string, string[]>[] {
  if (config?.public) return [];
  if (config?.sessionOnly) return [{ session: [] }];
  return [{ apiKey: [] }, { bearer: [] }, ...(config?.passesOn ? [] : [{ session: [] }])];
}

function errorReply(codes: readonly ErrorCode[], isOAuth: boolean): Json {
  const bodyOf = isOAuth ? oauthErrorBody : errorBody;
  // The same codes are another reply in the words of OAuth.
  const prefix = isOAuth ? 'oauth.' : '';
  const examples = codes.map((code) => [prefix + code, { value: bodyOf(code, errorCodes[code].meaning) }] as const);
  return {
    description: codes.map((code) => `\`${code}\`: ${errorCodes[code].meaning}`).join('\n\n'),
    headers: Object.fromEntries(codes.flatMap((code) => errorHeaders(code))),
    content: {
      'application/json': { schema: isOAuth ? OAuthErrorBody : ErrorBody, examples: Object.fromEntries(examples) },
    },
  };
}

/** Headers of replies with this code, beside every reply's own. */
function errorHeaders(code: ErrorCode): [string, Json][] {
  const { status } = errorCodes[code];
  const header = (name: string, text: string): [string, Json] => [name, { type: 'string', description: text }];
  if (status === 401) return [header('WWW-Authenticate', '`Bearer`')];
  if (status === 429 || status === 503 || code === 'agent_transitioning')
    return [header('Retry-After', 'Seconds after which trying again may help.')];
  if (code === 'provisioning_failed') return [header('X-Agent-Id', "The agent's id.")];
  return [];
}
