/** The OpenAPI document, in the parts of it that the Python SDK is made of. */
export type Schema = Readonly<Record<string, unknown>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

type Contents = Readonly<Record<string, { readonly schema: Schema }>>;

interface WireOperation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content: Contents };
  readonly responses: Readonly<Record<string, { readonly content?: Contents }>>;
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, WireOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

export interface Operation {
  readonly id: string;
  readonly verb: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  /** The JSON body; null where there is none. */
  readonly body: Schema | null;
  /** A good reply in JSON, and the events of a stream; null where there is none. */
  readonly reply: Schema | null;
  readonly events: Schema | null;
}

export function operationsOf({ paths, components }: Document): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([verb, operation]) => {
      const good = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
      const replyOf = (type: string): Schema | null =>
        good.map(([, { content }]) => content?.[type]?.schema).find((schema) => schema !== undefined) ?? null;
      return {
        id: operation.operationId,
        verb: verb.toUpperCase(),
        path,
        summary: operation.summary ?? '',
        description: operation.description ?? '',
        parameters: (operation.parameters ?? []).map((each) =>
          '$ref' in each ? components.parameters[lastOf(each.$ref)]! : each,
        ),
        body: operation.requestBody?.content['application/json']?.schema ?? null,
        reply: replyOf('application/json'),
        events: replyOf('text/event-stream'),
      };
    }),
  );
}

export const lastOf = (reference: string): string => reference.split('/').at(-1)!;
export const refOf = (schema: Schema): string | null =>
  typeof schema['$ref'] === 'string' ? lastOf(schema['$ref']) : null;
export const typesOf = (schema: Schema): readonly string[] => [schema['type'] ?? []].flat().map(String);
export const propertiesOf = (schema: Schema): readonly (readonly [string, Schema])[] =>
  Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, Schema>>);
export const isRequired = (schema: Schema, name: string): boolean =>
  ((schema['required'] ?? []) as readonly string[]).includes(name);
export const descriptionOf = ({ description }: Schema): string => (typeof description === 'string' ? description : '');
