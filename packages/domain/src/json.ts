/** A JSON object from outside, with unknown fields. */
export type Json = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns null for a value that is no JSON object. */
export const asObject = (value: unknown): Json | null => (isJsonObject(value) ? value : null);
