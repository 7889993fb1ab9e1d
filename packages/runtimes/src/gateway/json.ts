/** The one place that reads a gateway's JSON. */
import { asObject, boundedJson } from '@lodge/domain';
import type { Json, JsonBounds } from '@lodge/domain';

/** Parses JSON of a guest, which is not trusted. Returns null for text that is no JSON object or exceeds the bounds. */
export function parseJson(text: string, bounds: JsonBounds): Json | null {
  try {
    return asObject(boundedJson(text, bounds));
  } catch {
    return null;
  }
}

/** As `parseJson`, with no fields instead of null. */
export const parseObject = (text: string, bounds: JsonBounds): Json => parseJson(text, bounds) ?? {};

/** Returns a field's text, '' when it has none. */
export const textField = (json: Json, name: string): string => {
  const value = json[name];
  return typeof value === 'string' ? value : '';
};
