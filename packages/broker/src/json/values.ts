export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A token count, or null when the field is absent or is none. */
export function asTokens(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
}
