/**
 * Rules between fields, in the words of JSON Schema. They stand in a schema's `allOf`. Where a rule has a `description`, a
 * refusal says it after the name of the field or object: it begins with a verb.
 */
import type { TSchema } from 'typebox';

type Words = Readonly<Record<string, unknown>>;

/** The same schema with rules. Replies are not checked: their schemas have none. */
export const withRules = <T extends TSchema>(schema: T, ...rules: readonly Words[]): T => ({ ...schema, allOf: rules });

const have = (...names: readonly string[]): Words => ({ required: names });

export const exactlyOneOf = (...names: readonly string[]): Words => ({
  description: names.length === 2 ? `needs either ${names.join(' or ')}` : `needs exactly one of ${listed(names)}`,
  oneOf: names.map((name) => have(name)),
});

export const atMostOneOf = (...names: readonly string[]): Words => ({
  description: `takes at most one of ${listed(names)}`,
  not: anyOf(names.flatMap((one, i) => names.slice(i + 1).map((other) => have(one, other)))),
});

const anyOf = (words: readonly Words[]): Words => (words.length === 1 ? words[0]! : { anyOf: words });

/** A field that is allowed only beside another. */
export const goesWith = (name: string, other: string): Words => ({ dependentRequired: { [name]: [other] } });

const is = (name: string, value: unknown): Words => ({ properties: { [name]: { const: value } }, required: [name] });

/** A rule that holds unless the value is of a schema. */
export const unless = (condition: Words, holds: Words): Words => ({ if: condition, else: holds });

/** A rule that holds only where a field has this value. */
export const where = (name: string, value: unknown, holds: Words): Words => unless({ not: is(name, value) }, holds);

/** Fields that are allowed only where another field has this value. */
export const onlyWhere = (name: string, value: string, fields: Words): Words => ({
  description: `is for ${name} ${value} alone`,
  ...unless(is(name, value), { properties: fields }),
});

const listed = (names: readonly string[]): string => `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
