/** Postgres has no text with NUL or half a surrogate pair, and strangers send both. */
export const storable = (text: string, maxChars = Infinity): string =>
  text.slice(0, maxChars).replaceAll('\0', '').toWellFormed();

/** As JSON, every text in it storable. */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) => (typeof each === 'string' ? storable(each) : each));
