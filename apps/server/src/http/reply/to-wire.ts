/** Replies from rows, and the way back: a field `created_at` of the contract is the row's `createdAt`. */
import type { Static, TObject } from 'typebox';

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

type Field<Value> = string extends Value ? Value | Date : Unchanged<Value>;

/** A value that is only read. */
type Unchanged<Value> = Value extends object ? { readonly [Name in keyof Value]: Unchanged<Value[Name]> } : Value;

/**
 * The values of a reply by the row's names, without its `object`. A field of the contract that a row lacks does not compile. One
 * that a reply may lack is left out where it is null.
 */
export type RowOf<Reply> = {
  readonly [Name in Exclude<keyof Reply & string, 'object'> as CamelCase<Name>]-?:
    | Field<Reply[Name]>
    | (undefined extends Reply[Name] ? null : never);
};

interface ReplyField {
  readonly name: string;
  readonly column: string;
  readonly isOptional: boolean;
}

const fields = new WeakMap<TObject, readonly ReplyField[]>();

/** Makes the reply that the contract's `schema` describes. Times are written in ISO 8601. */
export function toWire<Schema extends TObject>(
  schema: Schema & { readonly properties: { readonly object?: { readonly const: string } } },
  row: RowOf<Static<Schema>>,
): Static<Schema> {
  const { object } = schema.properties as { readonly object?: { readonly const: string } };
  const reply: Record<string, unknown> = object === undefined ? {} : { object: object.const };
  for (const { name, column, isOptional } of fieldsOf(schema)) {
    const value = (row as Readonly<Record<string, unknown>>)[column];
    if (isOptional && (value === null || value === undefined)) continue;
    reply[name] = value instanceof Date ? value.toISOString() : value;
  }
  return reply as Static<Schema>;
}

function fieldsOf(schema: TObject): readonly ReplyField[] {
  const known = fields.get(schema);
  if (known) return known;
  const required = new Set<string>(schema.required as readonly string[] | undefined);
  const made = Object.keys(schema.properties)
    .filter((name) => name !== 'object')
    .map((name) => ({
      name,
      column: camelCase(name),
      isOptional: !required.has(name),
    }));
  fields.set(schema, made);
  return made;
}

const camelCase = (name: string): string =>
  name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** The fields of a request by the names of rows. Objects within it are not renamed. */
export const fromWire = <Body extends object>(body: Body) =>
  Object.fromEntries(Object.entries(body).map(([name, value]) => [camelCase(name), value])) as {
    [Name in keyof Body as CamelCase<Name & string>]: Body[Name];
  };
