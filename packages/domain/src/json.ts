/** A JSON object from outside: nothing is known of its fields. */
export type Json = Readonly<Record<string, unknown>>;

/** Null for what is no JSON object. */
export const asObject = (value: unknown): Json | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
