/**
 * The TypeScript SDK's types from the OpenAPI document, so that they cannot differ from the contract: an interface for each
 * component, and `Operations` with the parameters, body and reply of each operation.
 */
import { openAiTypes } from './openai-types.ts';
import { commented, isUnion, nameOf, TypeWriter } from './type-writer.ts';
import type { Json } from './type-writer.ts';

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Json;
}
type Contents = Readonly<Record<string, { readonly schema: Json }>>;
interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Contents };
  readonly responses: Readonly<Record<string, { readonly content?: Contents }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

const head = `/* oxlint-disable max-lines */
/** Types of the API. \`node scripts/docs.ts\` writes this file from docs/reference/openapi.json. */
`;

/** The text of packages/sdk/src/types.ts. */
export function typescriptTypes(openApi: string): string {
  const document = JSON.parse(openApi) as Document;
  const { schemas } = document.components;
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
  const given = reachable(
    operations.map(({ operation }) => operation.requestBody),
    schemas,
  );
  const components = Object.entries(schemas).map(([name, schema]) => {
    const known = openAiTypes[name];
    return known === undefined
      ? componentText(name, schema, schemas, given.has(name))
      : `${commented(schema['description'], '')}${known}\n`;
  });
  const table = operations.map(({ path, method, operation }) => {
    const title = `${method.toUpperCase()} ${path}: ${operation.summary ?? ''}`;
    return `${commented(title, '  ')}  ${operation.operationId}: ${operationText(operation, document)};\n`;
  });
  return `${head}
${components.join('\n')}
/** Parameters, body and reply of each operation, by its operationId. */
export interface Operations {
${table.join('')}}
`;
}

/** Names of the components that a request can hold: their arrays are read-only, and their fields may be undefined. */
function reachable(from: readonly unknown[], schemas: Readonly<Record<string, Json>>): ReadonlySet<string> {
  const found = new Set<string>();
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key !== '$ref' || typeof value !== 'string') walk(value);
      else {
        const name = value.split('/').at(-1)!;
        if (found.has(name) || schemas[name] === undefined) continue;
        found.add(name);
        walk(schemas[name]);
      }
    }
  };
  walk(from);
  return found;
}

function componentText(name: string, schema: Json, schemas: Readonly<Record<string, Json>>, isGiven: boolean): string {
  const writer = new TypeWriter(schemas, isGiven);
  // Null is said where the component is used.
  const text = writer.type({ ...schema, type: [schema['type']].flat().filter((type) => type !== 'null') }, '');
  const comment = commented(schema['description'], '');
  return text.startsWith('{') && !isUnion(text)
    ? `${comment}export interface ${nameOf(name)} ${text}\n`
    : `${comment}export type ${nameOf(name)} = ${text};\n`;
}

function operationText({ parameters = [], requestBody, responses }: Operation, document: Document): string {
  const { schemas, parameters: shared } = document.components;
  const given = new TypeWriter(schemas, true);
  const all = parameters.map((each) => (each.$ref === undefined ? each : shared[each.$ref.split('/').at(-1)!]!));
  const fieldsOf = (place: string): string =>
    given.object(
      all
        .filter((each) => each.in === place)
        .map(({ name, required = false, description, schema }) => {
          const text = place === 'query' ? queryType(given, schema) : given.type(schema, '      ');
          return { name, isRequired: required, description: description ?? schema['description'], text };
        }),
      '    ',
    );
  const contents = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, reply]) => Object.entries(reply.content ?? {}));
  const replyOf = (isWanted: (type: string) => boolean): string => {
    const writer = new TypeWriter(schemas, false);
    const texts = contents.filter(([type]) => isWanted(type)).map(([, { schema }]) => writer.type(schema, '    '));
    return texts.length === 0 ? 'never' : [...new Set(texts)].join(' | ');
  };
  const body = Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) =>
    type === 'application/json' ? given.type(schema, '    ') : 'Uint8Array',
  );
  return `{
    path: ${fieldsOf('path')};
    query: ${fieldsOf('query')};
    body: ${body.length === 0 ? 'undefined' : [...new Set(body)].join(' | ')};
    reply: ${replyOf((type) => type === 'application/json')};
    stream: ${replyOf((type) => type === 'text/event-stream')};
  }`;
}

/** A flag in a query is text; the SDK takes booleans, too. */
function queryType(writer: TypeWriter, schema: Json): string {
  const values = schema['enum'] as readonly unknown[] | undefined;
  return values?.includes('true') ? 'boolean' : writer.type(schema, '      ');
}
