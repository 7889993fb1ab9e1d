/** Compares what a file wants with what is there, field by field. A field that the file does not mention is not compared. */
import { Secret, lastFour } from './file/secret.ts';
import type { Stored } from './file/secret.ts';
import type { Values } from './file/wanted.ts';

export interface FieldChange {
  /** Such as `lifecycle.keep_awake`. */
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** A stored secret in a map that is compared. */
export class StoredSecret {
  readonly stored: Stored;

  constructor(stored: Stored) {
    this.stored = stored;
  }

  toJSON(): string {
    return lastFour(this.stored.last4);
  }
}

export const isMap = (value: unknown): value is Values =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Secret) &&
  !(value instanceof StoredSecret);

/** Returns what differs. Lists of texts are compared as sets; other lists as wholes. */
export function differences(wanted: Values, present: Values, path = ''): FieldChange[] {
  return Object.entries(wanted).flatMap(([key, value]) =>
    value === undefined ? [] : difference(value, present[key], path === '' ? key : `${path}.${key}`),
  );
}

function difference(wanted: unknown, present: unknown, field: string): FieldChange[] {
  if (wanted instanceof Secret) return secretDifference(wanted, present, field);
  if (isMap(wanted) && isMap(present)) return differences(wanted, present, field);
  if (isMap(wanted) && present === undefined) return differences(wanted, {}, field);
  if (isSame(wanted, present)) return [];
  return [{ field, from: present ?? null, to: wanted }];
}

function secretDifference(wanted: Secret, present: unknown, field: string): FieldChange[] {
  const stored = present instanceof StoredSecret ? present.stored : undefined;
  if (stored !== undefined && wanted.is(stored)) return [];
  return [{ field, from: stored === undefined ? null : lastFour(stored.last4), to: wanted.shown }];
}

/** Null and nothing are the same. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(canonical(one ?? null)) === JSON.stringify(canonical(other ?? null));
}

/** Returns the value with its keys in one order, and its lists of texts as sets. */
export function canonical(value: unknown): unknown {
  if (Array.isArray(value)) {
    if (value.every((each) => typeof each === 'string')) return [...new Set(value)].toSorted();
    return value.map(canonical);
  }
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined && inner !== null)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, canonical(inner)]),
  );
}

/** Returns the value with each secret as the text itself: only for the body of a request. */
export function revealed(value: unknown): unknown {
  if (value instanceof Secret) return value.reveal();
  if (Array.isArray(value)) return value.map(revealed);
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, revealed(inner)]));
}

/** Returns the fields that a new thing has: all that the file mentions. */
export const asNew = (wanted: Values): FieldChange[] => differences(wanted, {});

/** Returns one map over another, and the maps in them too. */
export function overlaid(below: Values, above: Values): Values {
  const made: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const under = made[key];
    made[key] = isMap(value) && isMap(under) ? overlaid(under, value) : value;
  }
  return made;
}
