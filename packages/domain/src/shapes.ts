/**
 * Shapes of messages from another process, which may be hostile. Each returns the value, rebuilt from the fields that it
 * knows, or refuses it by name. A refusal says what the value must be and never repeats it. A list is bounded before its
 * elements are looked at.
 */
import { isJsonObject } from './basics/bounded-json.ts';
import type { Json } from './basics/bounded-json.ts';
import { NamedError } from './basics/named-error.ts';

/** Thrown for a value that a message must not contain. */
export class ShapeError extends NamedError {}

export type Shape<T> = (value: unknown, name: string) => T;
export type Fields = Readonly<Record<string, Shape<unknown>>>;
export type Shaped<F extends Fields> = { readonly [K in keyof F]: F[K] extends Shape<infer T> ? T : never };

/** Longest text that has a pattern. */
const maxText = 4096;

/** Accepts a value for which `is` is true. `what` names the required value in the refusal. */
export const such =
  <T>(is: (value: unknown) => value is T, what: string): Shape<T> =>
  (value, name) => {
    if (is(value)) return value;
    throw new ShapeError(`${name} must be ${what}`);
  };

export const matching = (pattern: RegExp, what: string): Shape<string> =>
  such((value): value is string => typeof value === 'string' && value.length <= maxText && pattern.test(value), what);

export const integer = (from: number, to: number): Shape<number> =>
  such(
    (value): value is number => typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to,
    `a whole number from ${from} to ${to}`,
  );

export const number: Shape<number> = such(
  (value): value is number => typeof value === 'number' && Number.isFinite(value),
  'a number',
);

export const boolean: Shape<boolean> = such((value): value is boolean => typeof value === 'boolean', 'true or false');

export const oneOf = <const T extends string>(...words: readonly T[]): Shape<T> =>
  such((value): value is T => words.some((word) => word === value), `one of ${words.join(', ')}`);

/** Accepts a text of at most `most` characters. */
export const text = (most: number): Shape<string> =>
  such(
    (value): value is string => typeof value === 'string' && value.length <= most,
    `text of ${most} characters at most`,
  );

export const object: Shape<Json> = such(isJsonObject, 'an object');

export const listOf =
  <T>(of: Shape<T>, most: number): Shape<readonly T[]> =>
  (value, name) => {
    if (!Array.isArray(value) || value.length > most) throw new ShapeError(`${name} must be a list of ${most} at most`);
    return value.map((each, index) => of(each, `${name}[${index}]`));
  };

export const orNull =
  <T>(of: Shape<T>): Shape<T | null> =>
  (value, name) =>
    value === null ? null : of(value, name);

/** Accepts a missing value as null. */
export const optional =
  <T>(of: Shape<T>): Shape<T | null> =>
  (value, name) =>
    value === null || value === undefined ? null : of(value, name);

/** Accepts an object and keeps only these fields. */
export const picked =
  <F extends Fields>(fields: F): Shape<Shaped<F>> =>
  (value, name) => {
    const given = object(value, name);
    const entries = Object.entries(fields).map(([key, of]) => [key, of(given[key], `${name}.${key}`)]);
    return Object.fromEntries(entries) as Shaped<F>;
  };

/** Accepts an object with these fields and no other. */
export const record = <F extends Fields>(fields: F): Shape<Shaped<F>> => {
  const read = picked(fields);
  return (value, name) => {
    const isKnown = Object.keys(object(value, name)).every((key) => Object.hasOwn(fields, key));
    if (!isKnown) throw new ShapeError(`${name} has another field`);
    return read(value, name);
  };
};
