import type { ErrorCode } from '@lodge/domain';

export type Json = { [key: string]: unknown };

interface Operation {
  parameters?: Json[];
  requestBody?: { required: boolean; readonly content: Readonly<Record<string, { readonly schema: Json }>> };
  responses: Record<string, Json>;
}

/** Headers of every reply. */
const commonHeaders: Json = {
  RequestId: { schema: { type: 'string' }, description: 'Names this request, for the operator of the service.' },
  RateLimitLimit: {
    schema: { type: 'integer' },
    description: 'Requests a minute, of the limit that counted this one.',
  },
  RateLimitRemaining: { schema: { type: 'integer' }, description: 'Requests of it that are left now.' },
  RateLimitReset: {
    schema: { type: 'integer' },
    description: 'When all of it is there again, in seconds since 1970. It comes back evenly, not at once.',
  },
};
const everyReply: Json = {
  'X-Request-Id': { $ref: '#/components/headers/RequestId' },
  'X-RateLimit-Limit': { $ref: '#/components/headers/RateLimitLimit' },
  'X-RateLimit-Remaining': { $ref: '#/components/headers/RateLimitRemaining' },
  'X-RateLimit-Reset': { $ref: '#/components/headers/RateLimitReset' },
};

/** Moves what repeats to the document's components, so that readers and generators see one of each. */
export function withComponents(document: Json): Json {
  for (const { requestBody } of operationsOf(document['paths'])) {
    if (requestBody !== undefined) requestBody.required = !isOptional(requestBody.content['application/json']?.schema);
  }
  const schemas: Json = {};
  const paths = withoutTitled(document['paths'], schemas);
  const operations = operationsOf(paths);
  const responses = shareErrors(operations);
  const parameters = shareParameters(operations);
  const components = {
    ...(document['components'] as Json),
    headers: commonHeaders,
    parameters,
    responses,
    schemas: sorted(schemas),
  };
  return { ...document, components, paths };
}

const operationsOf = (paths: unknown): Operation[] =>
  Object.values(paths as Record<string, Record<string, Operation>>).flatMap((item) => Object.values(item));

/** The service reads no body as an empty object: none is needed where that is good. */
const isOptional = (schema: Json | undefined): boolean =>
  schema !== undefined && !['required', 'minProperties', 'allOf'].some((word) => word in schema);

/** Copies `node` with a reference in place of every schema that has a title, and puts those into `schemas`. */
function withoutTitled(node: unknown, schemas: Json): unknown {
  if (Array.isArray(node)) return node.map((item) => withoutTitled(item, schemas));
  if (typeof node !== 'object' || node === null) return node;
  const walked: Json = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, withoutTitled(value, schemas)]),
  );
  // Objects in a query are written `metadata[team]=support`.
  if (walked['in'] === 'query' && (walked['schema'] as Json)['type'] === 'object') {
    Object.assign(walked, { style: 'deepObject', explode: true });
  }
  const { title, type } = walked;
  if (typeof title !== 'string' || type === undefined) return walked;
  delete walked['title'];
  schemas[title] ??= walked;
  return { $ref: `#/components/schemas/${title}` };
}

/**
 * Adds the common headers to every reply, and replaces each error reply by a reference. Returns the error replies by name.
 */
function shareErrors(operations: readonly Operation[]): Json {
  const shared: Json = {};
  for (const { responses } of operations) {
    for (const [status, reply] of Object.entries(responses)) {
      reply['headers'] = { ...(reply['headers'] as Json), ...everyReply };
      if (Number(status) < 400) continue;
      const name = errorName(reply);
      shared[name] ??= reply;
      responses[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  return sorted(shared);
}

/** Codes that stand together in most replies, under one word. */
const codeGroups: readonly (readonly [string, readonly ErrorCode[]])[] = [
  ['not_authenticated', ['missing_api_key', 'invalid_api_key', 'revoked_api_key', 'expired_api_key', 'not_signed_in']],
  ['idempotency_conflict', ['idempotency_key_reused', 'idempotency_in_progress']],
];

/** An error reply is named by its codes, of which it has one example each. */
function errorName(reply: Json): string {
  const { examples } = (reply['content'] as Record<string, { examples: Json }>)['application/json']!;
  let names = Object.keys(examples);
  for (const [word, codes] of codeGroups) {
    if (codes.every((code) => names.includes(code))) {
      names = [...names.filter((name) => !codes.includes(name as ErrorCode)), word];
    }
  }
  return names.join('_or_');
}

/** Shares, for each name and place of a parameter, the form of it that most operations have. Returns those by name. */
function shareParameters(operations: readonly Operation[]): Json {
  const counts = new Map<string, Map<string, number>>();
  for (const { parameters = [] } of operations) {
    for (const parameter of parameters) {
      const name = parameterName(parameter);
      const forms = counts.get(name) ?? new Map<string, number>();
      const form = JSON.stringify(parameter);
      counts.set(name, forms.set(form, (forms.get(form) ?? 0) + 1));
    }
  }
  const shared = new Map<string, string>();
  for (const [name, forms] of counts) {
    const [form, count] = [...forms].reduce((most, next) => (next[1] > most[1] ? next : most));
    if (count > 1) shared.set(name, form);
  }
  for (const operation of operations) {
    if (operation.parameters === undefined) continue;
    operation.parameters = operation.parameters.map((parameter) => {
      const name = parameterName(parameter);
      return shared.get(name) === JSON.stringify(parameter) ? { $ref: `#/components/parameters/${name}` } : parameter;
    });
  }
  return sorted(Object.fromEntries([...shared].map(([name, form]) => [name, JSON.parse(form) as Json])));
}

const parameterName = (parameter: Json): string => `${String(parameter['in'])}.${String(parameter['name'])}`;

const sorted = (object: Json): Json => Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
