/** The one place where a gateway's JSON is read. */
import { asObject, boundedJson } from '@lodge/domain';
import type { Json, JsonBounds } from '@lodge/domain';

/** A guest is not trusted: what is not JSON, or beyond the bounds, is null. */
export function parseJson(text: string, bounds: JsonBounds): Json | null {
  try {
    return asObject(boundedJson(text, bounds));
  } catch {
    return null;
  }
}

/** What is no JSON object within the bounds has no fields. */
export const parseObject = (text: string, bounds: JsonBounds): Json => parseJson(text, bounds) ?? {};
