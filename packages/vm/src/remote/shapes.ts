/** What may be in a message of the control plane, which is taken for hostile: each shape gives the value, or refuses it by name. */
import { posix } from 'node:path';
import { checkedEgress, egressModes, longestEgressEntry, mostEgressEntries, Refusal } from '@lodge/domain';
import type { EgressRules } from '@lodge/domain';
import type { CarriedData, Machine, RuntimeFacts } from '@lodge/ports';
import { isRecord } from './channel.ts';

/** A value that a message must not hold; the message names it and never repeats it. */
export class ShapeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ShapeError';
  }
}

export type Shape<T> = (value: unknown, name: string) => T;
export type Fields = Readonly<Record<string, Shape<unknown>>>;
export type Shaped<F extends Fields> = { readonly [K in keyof F]: F[K] extends Shape<infer T> ? T : never };

export const matching =
  (pattern: RegExp, what: string): Shape<string> =>
  (value, name) => {
    if (typeof value === 'string' && value.length <= maxText && pattern.test(value)) return value;
    throw new ShapeError(`${name} must be ${what}`);
  };

export const integer =
  (from: number, to: number): Shape<number> =>
  (value, name) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to) return value;
    throw new ShapeError(`${name} must be a whole number from ${from} to ${to}`);
  };

export const boolean: Shape<boolean> = (value, name) => {
  if (typeof value === 'boolean') return value;
  throw new ShapeError(`${name} must be true or false`);
};

export const oneOf =
  <const T extends string>(...words: readonly T[]): Shape<T> =>
  (value, name) => {
    const found = words.find((word) => word === value);
    if (found !== undefined) return found;
    throw new ShapeError(`${name} must be one of ${words.join(', ')}`);
  };

export const listOf =
  <T>(of: Shape<T>, most: number): Shape<readonly T[]> =>
  (value, name) => {
    if (!Array.isArray(value) || value.length > most) throw new ShapeError(`${name} must be a list of ${most} at most`);
    return value.map((each, index) => of(each, `${name}[${index}]`));
  };

/** Of so many characters at most. */
export const text =
  (most: number): Shape<string> =>
  (value, name) => {
    if (typeof value === 'string' && value.length <= most) return value;
    throw new ShapeError(`${name} must be text of ${most} characters at most`);
  };

/** Null is none. */
export const optional =
  <T>(of: Shape<T>): Shape<T | null> =>
  (value, name) =>
    value === null || value === undefined ? null : of(value, name);

/** These fields and no other. */
export const record =
  <F extends Fields>(fields: F): Shape<Shaped<F>> =>
  (value, name) => {
    if (!isRecord(value)) throw new ShapeError(`${name} must be an object`);
    if (Object.keys(value).some((key) => !Object.hasOwn(fields, key)))
      throw new ShapeError(`${name} has another field`);
    const entries = Object.entries(fields).map(([key, of]) => [key, of(value[key], `${name}.${key}`)]);
    return Object.fromEntries(entries) as Shaped<F>;
  };

/** Longest text in a message that has a pattern. */
const maxText = 4096;

export const executionId = matching(/^[a-z0-9][a-z0-9-]{0,63}$/, 'the id of an execution');
/** A name below the folder of templates: no path. */
export const templateId = matching(/^[A-Za-z0-9][\w-]{0,127}$/, 'the id of a template');
export const imageId = matching(/^[A-Za-z0-9][\w-]{0,127}$/, 'the id of an image');
/** A folder of recipes. */
export const runtimeName = matching(/^[a-z][a-z0-9-]{0,31}$/, 'the name of a runtime');
/** Of the runtime itself, or of an installed version of it. */
export const imageName = matching(/^[a-z][a-z0-9-]{0,31}(?:@[0-9][0-9A-Za-z.+-]{0,63})?$/, 'the name of an image');
export const variant = matching(/^[\w.-]{1,200}$/, 'the name of a variant');
export const ipv4 = matching(/^\d{1,3}(?:\.\d{1,3}){3}$/, 'an IPv4 address');

export const machine: Shape<Machine> = record({
  vcpus: integer(1, 256),
  memoryMib: integer(1, 2 ** 22),
  diskGib: integer(1, 2 ** 16),
});

/** JSON that is written to a file and given back: its bytes are the message's. */
export const facts: Shape<RuntimeFacts> = (value, name) => {
  if (isRecord(value)) return value;
  throw new ShapeError(`${name} must be an object`);
};

/** By the one parser of such rules; what it made before it gives back as it is. */
export const egress: Shape<EgressRules> = (value, name) => {
  const { mode, allow } = egressFields(value, name);
  try {
    return checkedEgress({ mode, allow });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new ShapeError(`${name} has an entry that is no name and no public block`);
  }
};
const egressFields = record({
  mode: oneOf(...egressModes),
  allow: listOf(text(longestEgressEntry), mostEgressEntries),
});

/** A path in the guest, from its root, that says where it leads. */
const guestFolder: Shape<string> = (value, name) => {
  const isPlain =
    typeof value === 'string' &&
    value.length <= maxText &&
    value.startsWith('/') &&
    !value.includes('\0') &&
    posix.normalize(value) === value;
  if (isPlain) return value;
  throw new ShapeError(`${name} must be an absolute path in the guest, without . and ..`);
};

export const carriedData: Shape<CarriedData> = record({
  folders: listOf(guestFolder, 64),
  except: listOf(guestFolder, 64),
});
