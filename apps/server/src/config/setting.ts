/** One variable. `fallback` is written as the variable itself would be, and goes through the same checks. */
export interface Setting<T> {
  readonly name: string;
  /** The accepted values, in words. */
  readonly type: string;
  readonly fallback: string | null;
  /** The meaning of an absent fallback, in words. */
  readonly fallbackNote?: string;
  readonly description: string;
  /** True where the value may hold a credential: it is never repeated in an error. */
  readonly secret?: true;
  /** Throws an Error whose message completes "LODGE_X must be ...". */
  readonly parse: (text: string) => T;
}

export function required<T>(
  name: string,
  type: string,
  fallback: string,
  description: string,
  parse: (text: string) => T,
): Setting<T> {
  return { name, type, fallback, description, parse };
}

export function optional<T>(
  name: string,
  type: string,
  fallbackNote: string,
  description: string,
  parse: (text: string) => T,
): Setting<T | null> {
  return { name, type, fallback: null, fallbackNote, description, parse };
}
