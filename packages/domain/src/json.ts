/** A JSON object from outside, with unknown fields. */
export type Json = Readonly<Record<string, unknown>>;

/** Returns null for a value that is no JSON object. */
export const asObject = (value: unknown): Json | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
