import { Type } from 'typebox';
import type { Static, TSchema, TSchemaOptions, TUnsafe } from 'typebox';

/** Patterns in schemas, with what a client is told that broke one. */
export const patterns = {
  /** Anything that a database's text can hold: no NUL, no half of a surrogate pair. */
  text: '^[^\\u0000\\ud800-\\udfff]*$',
  /** What can stand in an HTTP header: a provider's key ends up there. */
  token: '^[\\u0021-\\u007e]+$',
  agentId: '^[a-z][a-z0-9]{11}$',
} as const;

export const patternMeanings: Readonly<Record<string, string>> = {
  [patterns.text]: 'must not contain NUL or unpaired surrogates',
  [patterns.token]: 'must be printable ASCII without spaces',
};

/** A closed set of strings. */
export const oneOf = <const T extends string>(values: readonly T[], options: TSchemaOptions = {}) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], ...options });

/** The same schema with null allowed, in the one form that gives one error and one branch when serialised. */
export function nullable<T extends TSchema & { readonly type: string }>(schema: T): TUnsafe<Static<T> | null> {
  const values = 'enum' in schema ? { enum: [...(schema.enum as unknown[]), null] } : {};
  return Type.Unsafe<Static<T> | null>({ ...schema, ...values, type: [schema.type, 'null'] });
}

export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'] });

/** Up to 50 string pairs of the client's own. */
export const Metadata = Type.Unsafe<Record<string, string>>({
  type: 'object',
  description: 'Up to 50 pairs of strings for your own use.',
  maxProperties: 50,
  propertyNames: { type: 'string', minLength: 1, maxLength: 64, pattern: patterns.text },
  additionalProperties: { type: 'string', maxLength: 500, pattern: patterns.text },
  examples: [{ team: 'support' }],
});
