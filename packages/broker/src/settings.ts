/** Reads settings that are JSON. A refusal names the setting and the field, and repeats no value: it may be a secret. */
import { isJsonObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import { Type } from 'typebox';
import type { Static, TObject, TSchema } from 'typebox';
import { Check } from 'typebox/value';

export function parsed(json: string, setting: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new Error(`${setting} must be valid JSON.`);
  }
}

export function objectAt(value: unknown, at: string): Json {
  if (!isJsonObject(value)) throw new Error(`${at} must be an object.`);
  return value;
}

/** Refuses the first field that does not fit its schema, by its name. A schema's `must` says what the field must be. */
export function checked<S extends TObject>(form: S, given: unknown, at: string): Static<S> {
  const entry = objectAt(given, at);
  const known: Readonly<Record<string, TSchema & { readonly must?: string }>> = form.properties;
  for (const field of Object.keys(entry)) {
    if (Object.hasOwn(known, field)) continue;
    throw new Error(`${at}.${field} is not a field; known are: ${Object.keys(known).join(', ')}.`);
  }
  if (Check(form, entry)) return entry;
  const wrong = Object.keys(known).find((field) => !Check(Type.Object({ [field]: known[field]! }), entry));
  throw new Error(`${at}.${wrong} must be ${known[wrong!]!.must}.`);
}
